import type { HLJSApi, LanguageFn } from 'highlight.js'

type Loader = () => Promise<{ readonly default: LanguageFn }>

const LANGUAGES: ReadonlyMap<string, Loader> = new Map<string, Loader>(
  Object.entries({
    bash: () => import('highlight.js/lib/languages/bash'),
    c: () => import('highlight.js/lib/languages/c'),
    cpp: () => import('highlight.js/lib/languages/cpp'),
    csharp: () => import('highlight.js/lib/languages/csharp'),
    css: () => import('highlight.js/lib/languages/css'),
    diff: () => import('highlight.js/lib/languages/diff'),
    go: () => import('highlight.js/lib/languages/go'),
    java: () => import('highlight.js/lib/languages/java'),
    javascript: () => import('highlight.js/lib/languages/javascript'),
    json: () => import('highlight.js/lib/languages/json'),
    kotlin: () => import('highlight.js/lib/languages/kotlin'),
    php: () => import('highlight.js/lib/languages/php'),
    python: () => import('highlight.js/lib/languages/python'),
    ruby: () => import('highlight.js/lib/languages/ruby'),
    rust: () => import('highlight.js/lib/languages/rust'),
    sql: () => import('highlight.js/lib/languages/sql'),
    swift: () => import('highlight.js/lib/languages/swift'),
    typescript: () => import('highlight.js/lib/languages/typescript'),
    xml: () => import('highlight.js/lib/languages/xml'),
    yaml: () => import('highlight.js/lib/languages/yaml'),
  }),
)

const ALIASES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'c++': 'cpp',
    cs: 'csharp',
    html: 'xml',
    js: 'javascript',
    jsx: 'javascript',
    py: 'python',
    rb: 'ruby',
    rs: 'rust',
    sh: 'bash',
    shell: 'bash',
    svg: 'xml',
    ts: 'typescript',
    tsx: 'typescript',
    yml: 'yaml',
  }),
)

/** A piece of code; `name` is the class of its colour. */
export interface CodePiece {
  readonly name: string
  readonly text: string
}

let core: Promise<HLJSApi> | undefined

/** Prepares the pieces of codes in a language; `undefined` for an unknown one. */
export async function loadLanguage(
  language: string,
): Promise<((code: string) => CodePiece[]) | undefined> {
  const given = language.toLowerCase().split(/\s/)[0] ?? ''
  const name = ALIASES.get(given) ?? given
  const load = LANGUAGES.get(name)
  if (load === undefined) return undefined
  core ??= import('highlight.js/lib/core').then((module) => module.default)
  const [hljs, definition] = await Promise.all([core, load()])
  if (hljs.getLanguage(name) === undefined) hljs.registerLanguage(name, definition.default)
  return (code) => readPieces(hljs.highlight(code, { language: name, ignoreIllegals: true }).value)
}

/** Reads the spans of a highlighted code, so that no HTML is put into the page. */
export function readPieces(html: string): CodePiece[] {
  const names: string[] = []
  const pieces: CodePiece[] = []
  for (const [, open, close, text] of html.matchAll(/<span class="([^"]*)">|(<\/span>)|([^<]+)/g)) {
    if (open !== undefined) names.push(open)
    else if (close !== undefined) names.pop()
    else if (text !== undefined) pieces.push({ name: names.at(-1) ?? '', text: unescape(text) })
  }
  return pieces
}

function unescape(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
    .replaceAll('&amp;', '&')
}
