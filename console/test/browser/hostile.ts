/** Files that try to run, to reach another origin, to mislead and to freeze the page. */

export interface HostileFile {
  readonly path: string
  readonly content: string | Buffer
  readonly contentType: string
}

/** @param elsewhere the origin of a server that nothing may connect to. */
export function hostileFiles(elsewhere: string): readonly HostileFile[] {
  const script = `top.ran = true; document.title = 'ran'; fetch('${elsewhere}/ran'); new Image().src = '${elsewhere}/ran'; alert('ran')`
  const file = (path: string, content: string | Buffer, contentType = 'text/plain') => ({ path, content, contentType })
  return [
    file('page.html', pageOf(elsewhere, script), 'text/html'),
    file('refresh.html', `<meta http-equiv="refresh" content="0; url=${elsewhere}/refresh"><p>stays</p>`, 'text/html'),
    file('frames.html', `<frameset><frame src="${elsewhere}/frame"><frame src="javascript:${script}"></frameset>`),
    file('link.html', `<a id="out" href="#top" href="${elsewhere}/link">out</a>`, 'text/html'),
    file('link-2.html', `<a id="out" HREF=" ${elsewhere}/link" ping="${elsewhere}/ping">out</a>`, 'text/html'),
    file(
      'link-3.html',
      `<svg height="20"><a id="out" xlink:href="${elsewhere}/link"><text y="15">out</text></a></svg>`,
      'text/html',
    ),
    file(
      'link-4.html',
      `<svg height="20"><a id="out"><set attributeName="href" to="${elsewhere}/link"/><text y="15">out</text></a></svg>`,
      'text/html',
    ),
    file('link-5.html', `<base href="${elsewhere}/base"><a id="out" href="#top">out</a>`, 'text/html'),
    file(
      'link-6.html',
      `<noscript><a id="out" href="${elsewhere}/link">out</a></noscript><template shadowrootmode=open><a id="out" href="${elsewhere}/link">out</a></template>`,
      'text/html',
    ),
    file(
      'link-7.html',
      `<svg><style><a id="out" href="${elsewhere}/link"></style></svg><a id="out" href="//${elsewhere.slice(7)}/link">out</a>`,
      'text/html',
    ),
    file('scripts.md', markdownOf(elsewhere, script), 'text/markdown'),
    file('picture.svg', svgOf(elsewhere, script), 'image/svg+xml'),
    file('svg.html', `<body>${svgOf(elsewhere, script)}</body>`, 'text/html'),
    // A name and a type that contradict the content.
    file('picture.png', pageOf(elsewhere, script), 'image/png'),
    file('no-extension', pageOf(elsewhere, script), 'text/html; charset=utf-16'),
    file(
      'data.json',
      `{"__proto__": {"ran": true}, "html": "</script><script>${script.replaceAll('"', '')}</script>"}`,
    ),
    file('<img src=x onerror=alert(1)>.txt', 'a name that is HTML'),
    file('invoice-\u202efdp.exe', 'a name whose end is read backwards'),
    file('bidi.ts', "const role = 'user\u202e \u2066// only admins\u2069 \u2066'\nconst zero = 'a\u200bb\ufeff'\n"),
    file('bidi.md', 'See [the bank](https://bank.example\u202e/moc.evil) and \u202efdp.exe\n'),
    file(
      'terminal.log',
      '\u001b[2J\u001b[31mred\u001b[0m\u001b]0;title\u0007\u001b]8;;https://evil.example\u0007link\u0008\r\n\u009b31m',
    ),
    ...freezingFiles(),
  ]
}

/** Files that could keep a page busy for minutes. */
function freezingFiles(): readonly HostileFile[] {
  const file = (path: string, content: string, contentType = 'text/plain') => ({ path, content, contentType })
  const long = 95_000
  return [
    file('freeze/text-10-mb.txt', 'All work and no play makes a dull file.\n'.repeat(250_000)),
    file('freeze/line-10-mb.txt', 'x'.repeat(10_000_000)),
    file('freeze/lines-100000.log', Array.from({ length: 100_000 }, (_, line) => `line ${line}`).join('\n')),
    file('freeze/controls.txt', '\u001b\u202e\u0007'.repeat(30_000)),
    file('freeze/marks.txt', `a${'\u0301'.repeat(200_000)}`),
    file('freeze/marks.md', `a${'\u0301'.repeat(long / 2)}`),
    file('freeze/word.md', 'x'.repeat(long)),
    file('freeze/emphasis.md', '_a_'.repeat(long / 3)),
    file('freeze/stars.md', '__a**b'.repeat(long / 6)),
    file('freeze/quotes.md', '> '.repeat(long / 2)),
    file('freeze/lists.md', Array.from({ length: 400 }, (_, depth) => `${' '.repeat(depth * 2)}- a\n`).join('')),
    file('freeze/table.md', `${'|a'.repeat(2000)}|\n${'|-'.repeat(2000)}|\n${'a\n'.repeat(long / 4)}`),
    file('freeze/paragraphs.md', 'word\n\n'.repeat(long / 6)),
    file('freeze/links.md', '[a](https://a.example) '.repeat(long / 23)),
    file('freeze/nested.json', `${'['.repeat(100_000)}${']'.repeat(100_000)}`),
    file('freeze/wide.json', `${'['.repeat(50)}${'1,'.repeat(100_000)}1${']'.repeat(50)}`),
    file('freeze/uses.svg', usesOf(9)),
  ]
}

/** An SVG picture whose groups use each other: 10 to the power of the levels. */
function usesOf(levels: number): string {
  const groups = Array.from(
    { length: levels },
    (_, level) => `<g id="g${level + 1}">${`<use href="#g${level}"/>`.repeat(10)}</g>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><defs><circle id="g0" r="3"/>${groups.join('')}</defs><use href="#g${levels}"/></svg>`
}

function pageOf(elsewhere: string, script: string): string {
  return `<!doctype html><html manifest="${elsewhere}/manifest"><head>
<base href="${elsewhere}/base/" target="_top">
<link rel="preconnect" href="${elsewhere}"><link rel="dns-prefetch" href="${elsewhere}">
<noscript><link rel="preconnect" href="${elsewhere}"></noscript>
<link rel="preload" as="script" href="${elsewhere}/preload"><link rel="prefetch" href="${elsewhere}/prefetch">
<link rel="modulepreload" href="${elsewhere}/module"><link rel="prerender" href="${elsewhere}/prerender">
<link rel="stylesheet" href="${elsewhere}/style"><link rel="icon" href="${elsewhere}/icon">
<link rel="manifest" href="${elsewhere}/app">
<meta http-equiv="Content-Security-Policy" content="default-src *; script-src * 'unsafe-inline'">
<style>@import url(${elsewhere}/import); @font-face { font-family: f; src: url(${elsewhere}/font) }
body { font-family: f; background: url(${elsewhere}/background); cursor: url(${elsewhere}/cursor), auto }</style>
<script>${script}</script><script src="${elsewhere}/script"></script><script type="module" src="${elsewhere}/module"></script>
<script type="speculationrules">{"prefetch": [{"source": "list", "urls": ["${elsewhere}/speculation"]}]}</script>
</head><body onload="${script}"><h1>A page</h1>
<img src="${elsewhere}/image" srcset="${elsewhere}/image-2 2x" onerror="${script}"><img src="x" onerror="${script}">
<video src="${elsewhere}/video" poster="${elsewhere}/poster" autoplay></video><audio src="${elsewhere}/audio" autoplay></audio>
<iframe src="${elsewhere}/frame"></iframe>
<iframe srcdoc="<script>${script}</script><link rel=preconnect href=${elsewhere}>"></iframe>
<div><template shadowrootmode="open"><link rel="preconnect" href="${elsewhere}"></template></div>
<iframe src="javascript:${script}"></iframe><iframe src="/sessions"></iframe>
<object data="${elsewhere}/object"></object><embed src="${elsewhere}/embed">
<svg><script>${script}</script><image href="${elsewhere}/svg-image"/><use href="${elsewhere}/use#a"/></svg>
<form action="${elsewhere}/form" method="post"><input name="a" autofocus onfocus="${script}"><button id="send">Send</button></form>
<details open ontoggle="${script}"></details><marquee onstart="${script}"></marquee>
<a id="out" href="${elsewhere}/link" ping="${elsewhere}/ping">out</a>
</body></html>`
}

function markdownOf(elsewhere: string, script: string): string {
  return `# Scripts <script>${script}</script>

<script>${script}</script>

<img src="${elsewhere}/html-image" onerror="${script}">

![remote](${elsewhere}/image) ![remote](https://evil.example/image) ![x](x" onerror="${script})

[script](javascript:alert(1)) [case](JaVaScRiPt:alert(1)) [tab](java\tscript:alert(1)) [entity](&#106;avascript:alert(1))
[entities](javascript&colon;alert(1)) [vb](vbscript:msgbox(1)) [data](data:text/html,<script>alert(1)</script>)
[plain](http://evil.example/) [file](file:///etc/passwd) [relative](//evil.example/) [path](/session)
[blob](blob:${elsewhere}/x) [reference][r] <javascript:alert(1)> [good](https://good.example/ "title")
[quote](https://good.example/"onclick="alert(1)) [user](https://bank.example@evil.example/)

[r]: javascript:alert(1)

| a | b |
| - | - |
| <img src=x onerror=alert(1)> | [x](javascript:alert(1)) |

\`\`\`html"><script>alert(1)</script>
<script>${script}</script>
\`\`\`

<svg onload="${script}"></svg><math href="javascript:alert(1)">x</math>
`
}

function svgOf(elsewhere: string, script: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 40 40" width="40" height="40" onload="${script}">
<script>${script}</script><script href="${elsewhere}/svg-script"/>
<style>@import url(${elsewhere}/svg-import); rect { fill: url(${elsewhere}/svg-fill) }</style>
<image href="${elsewhere}/svg-image" width="9" height="9"/><use xlink:href="${elsewhere}/svg-use#a"/>
<foreignObject width="40" height="40"><body xmlns="http://www.w3.org/1999/xhtml"><iframe src="${elsewhere}/svg-frame"></iframe><img src="${elsewhere}/svg-html-image"/></body></foreignObject>
<a href="javascript:alert(1)"><rect width="20" height="20"/></a><set attributeName="href" to="javascript:alert(1)"/>
</svg>`
}
