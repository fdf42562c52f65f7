/** Style sheet of the report; its pictures contain their own (`svg.ts`), in the same colours. */

export const PAGE_STYLE = `
:root{--paper:#fff;--back:#f3f5f8;--ink:#1f2530;--soft:#687080;--rule:#e4e7ec}
@media (prefers-color-scheme:dark){:root{--paper:#171b22;--back:#0f1217;--ink:#e6e9ee;--soft:#98a1b0;--rule:#2b313c}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--ink);font:15px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1088px;margin:0 auto;padding:20px 16px 48px}
h1{font-size:22px;margin:0;overflow-wrap:anywhere}h2{font-size:16px;margin:28px 0 8px}
.soft{color:var(--soft);margin:4px 0}
dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(180px,1fr));gap:10px;margin:16px 0 0}
dl div{background:var(--paper);border-radius:6px;padding:8px 12px}
dt{color:var(--soft);font-size:12px}dd{margin:0;font-size:18px;font-variant-numeric:tabular-nums;white-space:nowrap}
figure{margin:0 0 10px;overflow-x:auto}
figure svg{display:block;width:100%;min-width:640px;height:auto}
.wide{overflow-x:auto;background:var(--paper);border-radius:6px}
table{border-collapse:collapse;font-size:13px;width:100%}
th,td{padding:5px 12px;text-align:left;border-bottom:1px solid var(--rule);white-space:nowrap}
th{color:var(--soft);font-weight:500}
tbody tr:last-child td{border-bottom:0}
.numbers th:nth-child(n+2),.numbers td:nth-child(n+2),.counts th:last-child,.counts td:last-child{text-align:right;font-variant-numeric:tabular-nums}
.words td{white-space:normal;overflow-wrap:anywhere;vertical-align:top}
.words td:first-child{white-space:nowrap}
.counts td:nth-child(3){white-space:normal}
section>.soft{max-width:92ch;font-size:13.5px;margin:8px 0 10px}header>p:not(.soft){max-width:84ch;margin:10px 0 0}
footer{margin-top:36px;font-size:12px}
@page{margin:14mm}
@media print{
:root,figure .weir{--paper:#fff;--back:#fff;--ink:#000;--soft:#4a4f59;--rule:#c9ced6;--grid:#dfe3e8;--empty:#f1f3f6;--limit:#c2341d;--c0:#0072b2;--c1:#d55e00;--c2:#008f68;--c3:#a6568c;--c4:#3a8fc7;--c5:#9a7d00}
:root{color-scheme:light}
body{font-size:10pt}main{max-width:none;padding:0}
dl{grid-template-columns:repeat(5,1fr);gap:4px}dl div{border:1px solid var(--rule);padding:4px 8px}dd{font-size:13px}
figure,.wide{overflow:visible}figure svg{min-width:0;border:1px solid var(--rule)}
table{font-size:8pt}th,td{padding:2px 6px;white-space:normal;overflow-wrap:anywhere}
.wide{border:1px solid var(--rule)}thead{display:table-header-group}
figure,tr,dl div{break-inside:avoid}h2{break-after:avoid;margin-top:18px}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}
}
`;
