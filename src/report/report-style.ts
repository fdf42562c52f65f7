/** The look of the report's page; its pictures bring their own (`svg.ts`), in the same colours. */

export const PAGE_STYLE = `
:root{--paper:#fff;--back:#f3f5f8;--ink:#1f2530;--soft:#687080;--rule:#e4e7ec}
@media (prefers-color-scheme:dark){:root{--paper:#171b22;--back:#0f1217;--ink:#e6e9ee;--soft:#98a1b0;--rule:#2b313c}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--ink);font:15px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:1088px;margin:0 auto;padding:20px 16px 48px}
h1{font-size:22px;margin:0;overflow-wrap:anywhere}h2{font-size:16px;margin:28px 0 8px}
.soft{color:var(--soft);margin:4px 0}
dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(138px,1fr));gap:10px;margin:16px 0 0}
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
`;
