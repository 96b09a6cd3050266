from agents.parsing.tool_names import guess_kind, surely_reads

NAMES = {
    "acting": """
        refund refund_order mcp__shop__refund_order shop.refundOrder refund-order RefundOrder pay sell_stock
        get_or_create_user getOrCreateUser find_and_replace check_then_book search_and_order list_or_delete
        order_pizza order book_flight post_message post_tweet crm_update_contact crm_add_note git_commit
        calendar_create_event fs_write_file email_send_invite Write Edit TodoWrite client.orders.create
        return_delivered_order_items modify_pending_order_address cancel_reservation send_certificate
        transfer_to_human_agents buy_ticket make_payment place_order issue_refund process_refund charge_card
        deploy publish_page submit put_object patch_issue upload_file user_delete removeItem set_temperature
        turn_on_light set_price set_user_status schedule_meeting move_file replyToEmail
    """,
    "reading": """
        get_order getOrder shop.getOrder list_posts check_update get_refund_policy list_deleted_files HTTPGet
        get_cancel_reason find_user_id_by_email mcp__db__query order_status book_search mail_search Grep
        calendar_search_slots fs_read_file calculate convert_currency describe_table look_up lookup read_email
        show_invoice view_order count_orders list_all_airports ticket_history translate_text download_file
        search Read WebFetch WebSearch orders/get
        validate_order
    """,
    "open": """
        run_python bash Bash think task execute_sql weather weather_report customer_order git_show_head _ 42
    """,
}


def test_a_name_tells_the_kind_of_a_tool(subtests):
    for kind, names in NAMES.items():
        for name in names.split():
            with subtests.test(name=name):
                assert guess_kind(name) == kind


def test_only_a_name_without_doubt_lets_a_call_be_made_again(subtests):
    for name, expected in [
        *((name, True) for name in ("get_order", "list_posts", "search", "fetchInvoice", "read_file")),
        *((name, False) for name in ("read_and_clear", "get_paid", "search_replace", "load_prepaid_card")),
        *((name, False) for name in ("check_in_guest", "run_query", "fetch_and_delete", "select_seat")),
    ]:
        with subtests.test(name=name, expected=expected):
            assert surely_reads(name) is expected
