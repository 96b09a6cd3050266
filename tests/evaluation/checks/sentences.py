"""Sentences in English with the marks of real outputs, and in the languages that IFEval asks for."""

ENGLISH = [
    "The old bridge crosses the river near the market.",
    "We don't know why the train was late, but it wasn't the weather.",
    "Dr. Smith paid $3.50 for a well-known book on gardening.",
    "Is there a better way to learn a language?",
    "Bring water, bread and a warm coat!",
    "She moved to the U.S. in 1998 and never looked back.",
    "It's a long-term plan: it takes time, patience and money.",
    "Many people like tea; others prefer coffee.",
    "The meeting starts at 10:30 and ends at noon.",
    "In the end, everybody was happy with the result.",
    "My neighbour's dog barks at every single cyclist.",
    "Version 2.5 of the program runs twice as fast.",
    "First, open the window; then, close the door.",
    "Nobody had expected such a quiet evening.",
    "The children laughed, sang and danced until midnight.",
    "He asked for a second opinion, e.g. from a friend.",
    "A small garden needs little care in winter.",
    "The results (see the table) were better than expected.",
    "The film lasts two hours and is worth every minute.",
    "What a wonderful surprise that was!",
]

OTHER = {
    "de": [
        "Die alte Brücke führt über den Fluss.",
        "Wir wissen nicht, warum der Zug zu spät kam.",
        "Das Wetter ist heute schön.",
    ],
    "fr": [
        "Le vieux pont traverse la rivière.",
        "Nous ne savons pas pourquoi le train est en retard.",
        "Il fait beau aujourd'hui.",
    ],
    "es": [
        "El viejo puente cruza el río cerca del mercado.",
        "No sabemos por qué el tren llegó tarde.",
        "Hoy hace muy buen tiempo.",
    ],
    "it": [
        "Il vecchio ponte attraversa il fiume.",
        "Non sappiamo perché il treno sia in ritardo.",
        "Oggi il tempo è molto bello.",
    ],
    "pt": [
        "A velha ponte atravessa o rio perto do mercado.",
        "Não sabemos por que o trem atrasou.",
        "Hoje o tempo está muito bom.",
    ],
    "ru": ["Старый мост ведёт через реку.", "Мы не знаем, почему поезд опоздал.", "Сегодня хорошая погода."],
    "ar": ["يعبر الجسر القديم النهر بالقرب من السوق.", "لا نعرف لماذا تأخر القطار.", "الطقس جميل جدا اليوم."],
    "fa": [
        "پل قدیمی از روی رودخانه نزدیک بازار می‌گذرد.",
        "ما نمی‌دانیم چرا قطار دیر رسید.",
        "امروز هوا خیلی خوب است.",
    ],
    "hi": [
        "पुराना पुल बाज़ार के पास नदी को पार करता है।",
        "हमें नहीं पता कि ट्रेन देर से क्यों आई।",
        "आज मौसम बहुत अच्छा है।",
    ],
    "th": ["สะพานเก่าข้ามแม่น้ำใกล้ตลาด", "เราไม่รู้ว่าทำไมรถไฟถึงมาสาย", "วันนี้อากาศดีมาก"],
    "ko": [
        "오래된 다리는 시장 근처의 강을 건넙니다.",
        "우리는 기차가 왜 늦었는지 모릅니다.",
        "오늘은 날씨가 아주 좋습니다.",
    ],
    "ja": [
        "古い橋は市場の近くで川を渡ります。",
        "電車がなぜ遅れたのか分かりません。",
        "今日はとても天気がいいです。",
    ],
}
