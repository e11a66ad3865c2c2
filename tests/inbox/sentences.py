"""Sentences that users write after a reminder of the medicine "Metformin" with the title "Obat gula darah".

Each entry of the table has the sentences of one meaning.
"""

from app.inbox.reading import Word

_SENTENCES = {
    Word.DONE: """
        SUDAH | sudah | Sudah. | Sudah!! | sudaaaaah | SSUUDDAAHH | *sudah* | _Sudah_ ✅ | 👍 sudah | sudah 🙏🏽 |
        ✅ | ✅✅ | ☑️ | ✔️ | 💯 | Sudah, terima kasih | Sudah dok, terima kasih banyak | sudah pak |
        sudah bu makasih | Sudah kak | sudah mbak, trims | sudah min | Alhamdulillah sudah |
        alhamdulillah sudah minum obat | Sudah diminum | sudah saya minum | saya sudah minum | Saya sudah minum obat |
        aku udah minum | aku udah minum obatnya | udah diminum barusan | udah | udahhh | Udah kok | udah dong |
        udah nih | udah ya | udah ya kak | udh | udh minum | udh diminum bu | sdh | sdh min | sdh diminum |
        Sdh minum obat dok | sdhh | suda | sudh | uda minum | DONE | done kak | done ya | selesai |
        Selesai, terima kasih | beres | beres dok | beres kak makasih | kelar | sampun | sampun pak |
        Sampun, matur nuwun | sampun diminum | mpun | uwis | wis | wis pak | wes | wes diminum | uwes mbak | atos |
        atos dok | parantos | Parantos, hatur nuhun | parantos diminum | geus | geus diminum | barusan minum |
        Barusan saya minum | tadi saya sudah minum | tadi sudah | sudah tadi | sudah barusan | iya sudah |
        Iya, sudah | iya udah kak | ok sudah | Oke sudah diminum | baik, sudah dok | siap sudah |
        Siap, sudah diminum | sudah semua | semua sudah | sudah semuanya, terima kasih | semua obat sudah diminum |
        obat sudah | obatnya sudah diminum | Obat sudah saya minum | sudah makan obat | makan obat sudah |
        sudah minum metformin | sudah metformin | metformin sudah | Metformin sudah diminum | metforminnn sudah |
        sudah minum obat gula darah | obat gula darah sudah | sudah sih | sudah minum obat bu, makasih ya |
        sudah\tdiminum | 𝗦𝗨𝗗𝗔𝗛 | ＳＵＤＡＨ | súdah | su\u200ddah | barusan | barusan sudah | sudah tadi kak |
        udah td | mnm obat sudah | sdh mnm | obt sudah | sudah :) | sudah 😊 | sudah minum sudah
    """,
    Word.SKIP: """
        LEWATI | lewati | Lewati ya | lewati aja | SKIP | skip | skippp | skip kak | skip saja | lewati metformin
    """,
    Word.SNOOZE: """
        minum dulu ya | mau minum obat dulu | sebelum minum makan dulu | TUNDA | tunda | Tunda 30 menit | tunda 30 |
        tundaa 20 | tunda15 | tunda 1 jam | tunda 2 jam ya | tunda sejam | tunda setengah jam | tunda 1 jam 15 menit |
        tunda dulu | nanti | nanti ya | nanti dulu | nanti kak | nanti dulu ya bu | Ok nanti ya | oke nanti |
        iya nanti | baik nanti | nanti 10 menit lagi | nanti 10 menit | nanti saya minum | nanti diminum |
        nanti minum | nanti minum obat | nanti obatnya | nanti setengah jam lagi | belum, nanti | belum nanti |
        belum nanti ya | nanti belum | ntar | ntar ya | ntar dulu deh | entar | bentar | bentar lagi | bentar ya |
        sebentar | sebentar lagi ya | mengko | engke | engke dok | nanti metformin | TUNDA -5 | tunda 30 min |
        nanti jam 9 | nanti malam | nanti siang saja | nanti habis makan | nanti kalau sempat | nanti sore |
        besok nanti | tunda 07.00 | tunda sampai besok | nanti tidak | bentar lagi makan | ya nanti | 10 menit lagi |
        makan dulu | ntar abis magrib ya | nanti, makan dulu | minum obatnya nanti dulu | 1 jam lagi |
        30 menit lagi ya | nanti pukul 9 | tunda 5 10
    """,
    Word.NOT_YET: """
        BELUM | belum | Belum. | beluuum | belom | blm | blm kak | blum | blon | belum bu | belum minum |
        belum diminum | belum minum obat | saya belum minum | saya belum minum obat | obatnya belum |
        belum saya minum | belum, maaf | belum metformin | metformin belum | belum semua | maaf belum | ok belum |
        iya belum | belum ya | durung | dereng | dereng pak | teu acan | teu acan diminum | eh belum |
        ternyata belum ding | belum deng, salah | baik pak, belum | obat kok belum
    """,
    Word.OK: """
        siap minum | ok minum | oke diminum | iya minum | OK | ok. | okeee | Oke | okay | ok kak | ok terima kasih |
        oke siap | ya | Yaaa | ya ya | iya | iya bu | iya dok, terima kasih | baik | baik kak | Baik, terima kasih |
        siap | siap dok | siap 🙏 | 👍 | 👍🏽 | 👌 | 🙏 | 🙏🙏🙏 | ok ya | ok semua
    """,
    Word.COURTESY: """
        terima kasih | Terima kasih banyak | makasih | makasih kak | mksh | thanks | trims dok | tq | matur nuwun |
        hatur nuhun | Alhamdulillah | terima kasih bu dokter | 🙏 makasih | pak | makasih ya | terima kasih ya kak
    """,
    Word.CONDOLENCE: """
        almarhum bapak saya | Ibu sudah meninggal pak | bapak wafat kemarin?
    """,
    Word.DOUBT: """
        ✅🙏 | sudha | sydah | sufah | sudag minum | sudah makan obatnya | sudah minum 1 tablet | sudah jam 9 |
        sudah jam 7 tadi | Sudah, 7:15 | sudah 07.00 | sudah minum obat tadi pagi | sudah setelah makan |
        sudah metformin 500 mg | Sudah saya minum satu jam yang lalu | sudah diminum sesudah sarapan |
        sudah sebelum ditanya | sudah minum obat sama vitamin | sudah titik | ya sudah | sudah kak barusan banget |
        oh sudah | dah | dah minum | dah diminum ya | habis minum | habis minum obat | baru minum | baru saja minum |
        baru aja minum obatnya | tadi minum | sudah ok | sudah itu | itu sudah | yang ini sudah |
        ini sudah saya minum | sudah aja | sudah saja | ibu sudah minum | bapak sudah minum obat | Bapak sudah |
        sudah ibu | kakak sudah | sudah? | sudah ya? | apa sudah? | kok sudah minum? | sudah minum belum? |
        harus diminum sekarang? | minum berapa? | makan obat? | obatnya diminum kapan? | sudah boleh makan? |
        SUDAH？ | ❓ sudah | ✅? | ✅😭 | sudah ❌ | sudah 🚫 | minum | diminum | Minum obat | minum ya | saya minum |
        mau minum | nunggu minum | lupa minum | salah minum | lupa minum obat | saya lupa minum obat tadi |
        segera minum | akan saya minum | harus minum | minum obat bikin mual | habis minum obat saya mual |
        habis minum terus muntah | baru mau minum | baru akan minum | baru mau minum obat | barusan mau minum |
        tadi mau minum | tadi lupa minum | baru, minum | habis. minum | sudah belum | sudah belum ya | belum sudah |
        belum tapi sudah makan | sudah makan | sudah makan belum minum obat | sudah sarapan | sudah makan siang |
        sudah tidak minum | sudah tidak minum obat itu lagi | sudah gak minum | udah ga minum lagi | sudah nggak |
        tidak sudah | sudah tidak | sudah berhenti minum obat | sudah stop obatnya | sudah habis |
        sudah habis obatnya | obatnya sudah habis | sudah habis stok | stok sudah habis | sudah muntah |
        sudah diminum tapi muntah | sudah mual | sudah sakit | sudah dulu ya | sudah dulu | udah dulu min |
        sudah dong tapi belum semua | sudah setengah | sudah separuh | sudah sebagian | sudah hampir | sudah mau |
        sudah mau minum | sudah disiapkan | sudah dibeli | sudah beli obat | sudah di apotek | sudah kontrol |
        sudah terapi | sudah lewat | sudah nanti | sudah skip | sudah baca | sudah dibaca | sudah tahu | sudah tau |
        sudah paham | sudah mengerti | sudah baikan | sudah sembuh | sudah tidur | sudah bangun | sudah pulang |
        sudah lapor | sudah cukup | sudah lah | udah lah | sudah minum kopi | sudah minum air | sudah minum jamu |
        sudah amlodipin | sudah minum amlodipin | sudah minum metformin dan amlodipin | sudah minum obat batuk |
        sudah minum obat gula | bukan saya yang minum, sudah ibu tadi | sudah kemarin |
        sudah kemarin, hari ini belum | sudah pagi, malam belum | sudah 1 | sudah no 2 | sudah 2 kali |
        sudah 2 tablet | sudah dua duanya | sudah 1/2 | sudah ½ | sudah 50% | kalau sudah bagaimana |
        jika sudah minum apa boleh makan | katanya sudah | kayaknya sudah | kayanya sudah | sepertinya sudah |
        mungkin sudah | rasanya sudah | lupa sudah atau belum | gatau sudah apa belum | kurang tau udah apa blm |
        udah kayaknya | sudah insyaallah | insyaallah sudah | seharusnya sudah | harusnya udah | hampir selesai |
        selesai makan | selesai jam berapa | belum. selesai | beres beres rumah | dah bye | ok dah | dah ya |
        dah dulu ya | dah kak | obatnya habis diminum | obat habis diminum | habis diminum | yang tadi sudah |
        yang itu sudah | tadi yang sudah | kok sudah | dong sudah | obat kok sudah | wis mangan | sampun dahar |
        parantos tuang | wes tapi muntah | durung wis | sudah susah nelan | sudah diminum suster |
        sudah diminum anak saya | sudah koma terima kasih | sudah tanda tanya | belm | belum selesai | belum beres |
        belum kelar | belum sempat | belum sempat minum | belum makan | belum beli obat | belum ada obatnya |
        masih belum | durung ngombe | tnda 20 | lewatin aja | lwati | lewat | 👍😊 | yes | tidak | tdk | gak | ga |
        nggak | ngga | enggak | engga | kagak | ora | mboten | henteu | ❌ | ✅❌ | 👎 | tidak mau | gak mau minum |
        ga minum | tidak minum | tidak diminum | tidak bisa | gak bisa minum | belum, tidak mau | belum gak sempat |
        belum skip | lewat dulu | lewat jam | skip dulu | lewati yang pagi | skip obat ini | tunda 30-60 |
        tunda 1,5 jam | tunda ½ jam | tidak ada obat | obatnya tidak ada | ... | ??? | 123 | 1 | 1 2 | no 2 | ok 1 |
        halo | halo dok | selamat pagi | assalamualaikum | apa kabar | susah | mudah | ludah | salah | sudahlah |
        sudaj | obat | obatnya | metformin | obat gula darah | metformin? | obat apa ini | obatnya habis |
        habis obatnya | obat habis | stok obat habis | sakit kepala | saya mual | siapa ini | ini siapa | maaf |
        besok | jam 9 | baru bangun | baru saja | tadi pagi | makan | lagi makan | lagi di jalan | masih tidur |
        harga obat berapa | belum? | tunda? | ok? | 1? | 😀 | ❤️ | mati lampu | hp mati | start | dimulai | putuskan |
        tuna | acan | teu sudah | sudah terima | sudah banyak | sudah kasih | sudah 😭 | 😊 | jam 7 lagi | nanti 😭 |
        nanti sudah | nanti skip | ok ya sudah | kak ya sudah | saya kok sudah | kok belum | ~sudah~ | sudah+
    """,
}
#: Sentences by meaning.
TABLE = {
    word: [sentence for part in sentences.split("|") if (sentence := part.strip())]
    for word, sentences in _SENTENCES.items()
}
