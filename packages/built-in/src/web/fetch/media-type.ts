/** What a page is converted as. */
export type PageKind = 'html' | 'text'

const HTML = /^(text\/html|application\/xhtml\+xml)$/
const TEXT =
  /^(text\/.+|application\/(.+\+)?(json|xml|yaml|toml)|application\/(x-)?(ndjson|jsonl|json-seq|javascript|ecmascript|typescript|yaml|toml|sh|sql|graphql|tex|latex|www-form-urlencoded))$/
/** Types of files whose content their server does not know. */
const UNKNOWN = /^(|application\/octet-stream|binary\/octet-stream|application\/unknown)$/
const SNIFFED_BYTES = 1024

/** The type of a `content-type` header, without its parameters. */
export function essenceOf(contentType: string): string {
  return (contentType.split(';')[0] ?? '').trim().toLowerCase()
}

/** The kind of a body. Throws, with a hint, for one that is no text. */
export function pageKind(contentType: string, bytes: Uint8Array): PageKind {
  const type = essenceOf(contentType)
  if (HTML.test(type)) return 'html'
  if (TEXT.test(type)) return 'text'
  if (UNKNOWN.test(type)) {
    const head = bytes.subarray(0, SNIFFED_BYTES)
    if (!head.includes(0)) {
      return /^\s*<(!doctype html|html)\b/i.test(new TextDecoder().decode(head)) ? 'html' : 'text'
    }
  }
  throw new Error(`the address has ${hintFor(type)}`)
}

function hintFor(type: string): string {
  if (type === 'application/pdf') {
    return 'a PDF (application/pdf), which is not read here; look for the same document as a web page'
  }
  if (/^(image|audio|video|font)\//.test(type)) {
    return `no text but ${type}; fetch the page that shows it instead`
  }
  return `no text but ${type === '' ? 'bytes of an unknown type' : type}; fetch a page or a text file instead`
}
