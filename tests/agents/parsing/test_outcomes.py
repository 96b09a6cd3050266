from hypothesis import given
from hypothesis import strategies as st

from agents.parsing.outcomes import read_outcome, states_error
from agents.parsing.prose_outcomes import may_have_acted

REFUSED = [
    '{"detail": [{"loc": ["body"], "msg": "field required"}]}', '{"fault": {"faultstring": "late"}}',
    '{"found": false}', '{"data": {"userErrors": [{"message": "late"}]}}', '{"rejected": true}',
    "Versand nicht ausgeführt", "Die Lieferung ist nicht übertragen worden", "The parcel was never shipped",
    "404 Not Found", "HTTP/2 401", "Status: 409 Conflict", "413: too large",
    "Error executing tool ship: x", "Traceback (most recent call last):\n  File",
    "Sorry, I couldn’t ship this parcel.", "We can't ship to Peru", "Unable to ship: no address",
    "The carrier refused the parcel", "Shipment failed", "The label has expired.", "Parcel was not shipped",
    "Not shipped yet", "No parcel was shipped.", "Nothing was shipped", "No such parcel",
    "parcel 'A 7' not found", "You are not allowed to do this", "Access denied", "Insufficient credit",
    "Too many requests, slow down", "The limit exceeds the maximum", "invalid postcode",
    "Parcel cannot be shipped or held", "exit code 2", "Status: rejected",
    "Error: over the limit of 500",
    "Shipping was declined because of customs", "Kann das Paket nicht versenden",
    "Das Paket konnte nicht versandt werden.", "Paket nicht gefunden", "Der Versand wurde nicht beauftragt",
    "Versand fehlgeschlagen", "Antrag abgelehnt", "Keine Berechtigung", "Fehler beim Versand",
    "Fehler: Adresse fehlt", "nein", "false", '{"ok": 0}', '{"success": "no"}', '{"exitCode": 127}',
    '{"rc": "1"}', '{"authorized": false}', '{"shipped": false}', '{"id": 7, "status": "rejected"}',
    '{"payment_status": "declined", "id": 1}', '{"code": 422, "title": "x"}',
    '{"error": {"code": 5, "message": "late"}}', '{"data": null, "errors": [{"message": "late"}]}',
    '{"failed": 3}', '{"message": "no_capacity: could not ship"}', '{"result": "Shipment failed"}',
    '{"result": {"status": "aborted"}}', '{"shipment": {"success": false}}',
    '{"results": [{"ok": false}, {"ok": false}]}', '[{"error": "x"}]',
    '{"content": [{"type": "text", "text": "Parcel 7 not found"}]}', '{"isError": true, "content": []}',
    '[{"type": "text", "text": "ok"}, {"type": "text", "text": "Error: late"}]', "{'ok': False}",
    '"Not allowed: late"', '```json\n{"success": false}\n```', '{"error": "cut o',
    '{"data": {"shipment": {"ok": false}}}',
    '{"d": {"order": {"parcel": {"success": false, "reason": "late"}}}}',
    '{"a": {"b": {"c": {"d": {"e": {"f": {"g": {"status": "declined", "id": 7}}}}}}}}',
    '{"parcels": [{"ok": false}]}', '{"data": {"createShipment": {"userErrors": [{"message": "late"}]}}}',
    '[{"shipment": {"label": {"ok": false}}}]',
    '{"errors": 0, "error_message": "the account is locked"}', '{"error_code": "E1234"}',
    "status='declined' reason='late'", "Shipment(ok=False, fee=Decimal('4.0'))",
    "success=False errors=['late']",
    '{"acknowledged": false}', '{"completed": false, "reason": "late"}',
    '{"status": "carrier_busy", "job": null}',
    '{"errorMessages": ["no postcode"]}', '{"error_fields": {"zip": "missing"}, "label": null}',
    '{"error_description": "the account is locked"}', "No parcel could be shipped.",
    "ERROR: No carrier serves this town", "Error: none of the carriers answered the question",
    "Es konnte kein Paket versandt werden.", "Kein Paket konnte zugestellt werden",
    '{"response": {"parcel": "{\\"shipment\\": {\\"ok\\": false}}"}}',
    "<errors><error>late</error></errors>", "<s:Envelope><s:Fault>late</s:Fault></s:Envelope>",
    "<html><title>Access denied</title></html>",
]  # fmt: skip
ACTED = [
    "status='shipped' error=None", "Shipment(id='7', status='shipped', errors=[])",
    "shipped=True failed=False",
    "state=<State.NEW: 'new'> error='' fee=Decimal('4.0')", '{"status": "shipped", "cancelled": false}',
    "OK", "ok.", "Okay, done!", "yes", "true", "Success", "shipped", "Shipped 3 parcels",
    "Parcel 7 was shipped.", "parcel created", "Label printed, 0 errors", "Shipped without any errors.",
    "no errors; parcel queued", "Shipped parcel with note 'Error: 500'",
    "Shipped parcel, note: could not ring", "500 parcels shipped", "404-2", "shp_7f", "1Z999AA10123456784",
    "HTTP/1.1 201 Created", "200 OK", "Tracking number: 77812", "https://track.example/77", "erledigt",
    "Das Paket wurde versandt.", "Lieferung angelegt", "Exit code: 0. Done.", "✅", '{"error": null}',
    '{"error": false, "shipped": true}', '{"failed": 0, "shipped": 2}', '{"errors": [], "id": 1}',
    '{"status": "sent", "queued": false}',
    '{"id": 7}', '{"status": "queued", "job_id": "j1"}', '{"status": "shipped"}',
    '{"exit_code": 0, "stderr": "error: cached"}', '{"order": 7, "reason": "customer was not found at home"}',
    '{"id": 1, "message": "Error: server is down"}', '{"order": 7, "previous": {"status": "failed"}}',
    '{"error": {"code": 0, "message": "ok"}}', '{"result": "ok"}', '[{"id": 1}, {"id": 2}]',
    '{"data": {"shipment": {"ok": true, "id": 7}}}', '{"parcels": [{"id": 1}, {"id": 2}]}',
    '{"status": "pending"}',
    '{"id": 7, "dry_run": false}', '{"id": 7, "requires_approval": false}',
    '{"id": 7, "requires_shipping": true}',
    '{"status": "transaction_complete"}', '{"review": "in time", "id": 7}', '{"tags": ["late"]}',
    '{"order": {"previous": {"status": "failed"}}}', "<result>ok</result>",
    "{'id': 7}", '{"id": 7, "total": 1',
    '{"success": true, "notified": false}', '{"id": 7, "completed": false}',
    '{"label": "A", "kind": "full"}',
    '{"id": 7, "error_tracking": {"enabled": true}}', '{"error_code": "00", "error_message": "Approved"}',
    '{"label": "A", "state": "running", "completed": false}',
    '{"id": 7, "errorMessages": []}', '{"label": "A", "error_policy": "retry"}',
    "Label printed (errors: none)",
    "Request submitted, no further approval is required",
    "Shipped before noon", "Errors: none found. Parcel queued",
]  # fmt: skip
UNKNOWN = [
    '{"status": "pending_approval"}', '{"id": 7, "status": "Awaiting manager approval"}',
    '{"state": "approval required"}', '{"data": {"shipment": {"status": "IN_REVIEW", "id": 7}}}',
    '{"status": "requires_action"}', '{"status": "awaiting-confirmation"}',
    '{"id": 7, "needsApproval": true}',
    '{"dry_run": true, "status": "ok"}', '{"dryRun": "true", "id": 7}',
    '{"shipment": {"simulated": true, "id": 1}}',
    '{"isPreview": true, "id": 7}', '{"shipment": {}}',
    '{"accepted": [], "rejected": ["a@b"]}', "The parcel will be shipped tomorrow",
    "It must be approved before it is shipped", "Once shipped, you get a mail", "Dry run: parcel shipped",
    None, "", "  ", "null", "None", "{}", "[]", "42", "12.50", "-3 %", "ok?", "Was it shipped?", "hello",
    "a nice day", "Parcel 7 was already shipped", "bereits versandt", "Shipped 0 parcels of 3 items, 0 items",
    "0 rows updated", '{"rows_affected": 0}', '{"result": null}', '{"result": 12}',
    '{"shipped": 4, "failed": 1}', '{"id": 7, "approved": false}', '{"status": "cancelled", "id": 7}',
    '{"results": [{"ok": true}, {"ok": false}]}', '{"order": 7, "mail": {"status": "failed"}}',
    '{"delivered": false, "to": "Peru"}', '{"id": 7, "status": "busy"}', "Saved as a draft",
    "Stored; shipping requires approval", "Accepted. A confirmation is required before it is shipped.",
    "Shipped, but could not print the label", "<html><title>Log in</title></html>",
]  # fmt: skip
LATE = [
    "502 Bad Gateway: upstream", "Service Unavailable", "Internal Server Error.", "Request timed out",
    "ConnectionError: reset by peer", '{"status": "503"}', "<html><h1>504 Gateway Timeout</h1></html>",
    "Error: lost contact with the carrier", '{"error": "carrier did not respond in time"}',
    '{"error": "gateway_timeout"}', '{"code": 500, "message": "failed"}', "Error 521: could not ship",
    "HTTP/1.1 500", "Fehler: Verbindung abgebrochen", "Error: the network is unreachable",
]  # fmt: skip
TABLES = {"refused": [*REFUSED, *LATE], "acted": ACTED, "unknown": UNKNOWN}


def test_an_answer_tells_whether_the_call_acted(subtests):
    for answer, outcome in [(each, name) for name in TABLES for each in TABLES[name]]:
        with subtests.test(answer=answer, outcome=outcome):
            assert read_outcome("ship_parcel", answer) == outcome


def test_the_verb_of_the_tool_decides_what_affirms(subtests):
    for tool, answer, outcome in [
        ("reject_claim", "Claim rejected", "acted"),
        ("reject_claim", '{"id": 7, "status": "rejected"}', "acted"),
        ("deny_access", "Access denied.", "acted"),
        ("expire_token", "expired", "acted"),
        ("decline_invite", "Could not decline", "refused"),
        ("delete_jobs", "Deleted 3 failed jobs", "acted"),
        ("set_order_status", '{"id": 7, "status": "declined"}', "acted"),
        ("set_order_status", '{"id": 7, "status": "error"}', "refused"),
        ("update_status", "Order marked as refused", "acted"),
        ("create_ticket", "Ticket 12 created: Error on login", "acted"),
        ("book_table", "Reservation cancelled", "unknown"),
        ("cancel_table", "Reservation cancelled", "acted"),
        ("write_file", '{"path": "a.log", "content": "Error: x"}', "acted"),
    ]:
        with subtests.test(tool=tool, answer=answer):
            assert read_outcome(tool, answer) == outcome


def test_an_error_refuses_whatever_the_answer_says(subtests):
    for answer in ["shipped", None, "timed out"]:
        with subtests.test(answer=answer):
            assert read_outcome("ship_parcel", answer, is_error=True) == "refused"


def test_a_failure_of_a_server_leaves_open_whether_the_call_acted_before(subtests):
    for answer in LATE:
        with subtests.test(answer=answer):
            assert may_have_acted(answer)
    for answer in ["card expired", "too heavy, at most 500 g", "the price is 375, but 299 were paid"]:
        with subtests.test(answer=answer):
            assert not may_have_acted(answer)


@given(
    st.text() | st.recursive(st.none() | st.text(), lambda inner: st.dictionaries(st.text(), inner)).map(str)
)
def test_any_answer_has_an_outcome(answer):
    assert read_outcome("ship_parcel", answer) in TABLES


def test_the_answer_of_any_tool_may_state_an_error(subtests):
    for answer in [
        *("Error: too late", "error: too late", "Error executing tool pay: no", '{"error": "too late"}'),
        *({"error": "no"}, {"isError": True, "content": []}, '"{\\"error\\": \\"no\\"}"', {"Success": 0}),
    ]:
        with subtests.test(answer=answer):
            assert states_error(answer)


def test_what_is_read_may_tell_of_failures(subtests):
    for answer in [
        *("Paid.", "No error: paid.", '{"error": null, "id": 7}', '{"id": 7', {"error": False}, None, ""),
        *([[]], "[" * 100_000, "Order 7 not found", {"id": 7, "status": "failed"}, {"exit_code": 1}),
    ]:
        with subtests.test(answer=answer):
            assert not states_error(answer)


def test_a_state_affirms_by_a_word_that_is_known(subtests):
    for tool, answer, outcome in [
        ("charge_card", '{"state": "issuerDeclined"}', "refused"),
        ("charge_card", '{"status": "NOT_CAPTURED", "id": 7}', "refused"),
        ("charge_card", '{"status": "limbo"}', "unknown"),
        ("charge_card", '{"status": "in_dispute", "id": 7}', "unknown"),
        ("charge_card", '{"status": "refunded", "id": 7}', "unknown"),
        ("charge_card", '{"id": 7, "refund_status": "no_refund", "status": "settled"}', "acted"),
        ("charge_card", '{"status": "provisioning"}', "acted"),
        ("return_items", '{"status": "return requested", "order_id": 7}', "acted"),
        ("create_user", '{"id": 7, "status": "staged"}', "acted"),
        ("create_user", '{"id": 7, "status": "invalid_domain"}', "refused"),
        ("stop_server", '{"status": "stopped"}', "acted"),
        ("resume_server", '{"status": "stopped"}', "unknown"),
        ("mark_expired", '{"status": "expired"}', "acted"),
        ("charge_card", '{"status": false}', "refused"),
        ("charge_card", '{"charged": "no", "id": 7}', "refused"),
        ("charge_card", '{"finished": false, "msg": null}', "refused"),
        ("charge_card", '{"declineReason": "stolen"}', "refused"),
        ("charge_card", '{"id": 7, "refusalReason": "stolen"}', "unknown"),
        ("charge_card", '{"id": 7, "on_failure": "retry"}', "acted"),
        ("charge_card", '{"responseCode": 2017, "errmsg": "x"}', "unknown"),
        ("charge_card", '{"retcode": 0, "retmsg": "ok"}', "acted"),
        ("charge_card", '{"id": 7, "error": "printer on fire", "state": "done"}', "unknown"),
        ("revoke_key", '{"valid": false}', "unknown"),
        ("check_in", '{"valid": false}', "refused"),
    ]:
        with subtests.test(tool=tool, answer=answer):
            assert read_outcome(tool, answer) == outcome


def test_a_sentence_affirms_the_act_of_the_tool(subtests):
    for tool, answer, outcome in [
        ("cancel_trip", "The account is suspended", "refused"),
        ("book_seat", "The seat is locked", "unknown"),
        ("unlock_account", '{"locked": false}', "acted"),
        ("lock_account", '{"locked": false}', "refused"),
        ("unlock_account", '{"unlocked": false}', "refused"),
        ("book_seat", "Seat 4 is purchased", "acted"),
        ("book_seat", "Seat 4 was reserved by someone else", "unknown"),
        ("book_seat", "The flight is sold out.", "refused"),
        ("book_seat", "Code sent to your mail; reply with it to book", "unknown"),
        ("credit_account", "The invoice was charged", "unknown"),
        ("credit_account", "40 EUR returned to the card", "acted"),
        ("credit_account", "Invoice 7 was paid, no credit", "refused"),
        ("sell_shares", "Sold nothing today.", "refused"),
        ("sell_shares", "Shares are to be sold", "unknown"),
        ("update_order", "Order 7 reserved", "acted"),
        ("remove_rows", "DELETE 12", "acted"),
        ("remove_rows", "DELETE 0", "unknown"),
        ("sell_shares", "Errors: none. Shares sold.", "acted"),
        ("sell_shares", "Weil der Kurs nicht gefallen ist, wurde der Auftrag ausgeführt", "acted"),
        ("add_row", "psycopg.OperationalError: the server is gone", "refused"),
    ]:
        with subtests.test(tool=tool, answer=answer):
            assert read_outcome(tool, answer) == outcome
