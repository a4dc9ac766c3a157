/** Links after these stay as they are, so that the base makes no small page large. */
const MAX_LINKS = 20_000
const MAX_BASE_LENGTH = 2_048

const LINK =
  /(<(?:a|img|source|area)\s(?:[^<>]*?\s)?(?:href|src)\s*=\s*)(?:"([^"<>]*)"|'([^'<>]*)'|([^\s"'<>]+))/gi
const BASE = /<base\s(?:[^<>]*?\s)?href\s*=\s*["']?([^"'<>\s]+)/i

/** Makes the links and pictures of a page absolute. Those that are no addresses of the web lose their target. */
export function resolveLinks(html: string, pageUrl: string): string {
  const base = URL.parse(BASE.exec(html)?.[1] ?? '', pageUrl)?.href ?? pageUrl
  if (base.length > MAX_BASE_LENGTH) return html
  let count = 0
  return html.replaceAll(
    LINK,
    (whole, before: string, double?: string, single?: string, bare?: string) => {
      count += 1
      if (count > MAX_LINKS) return whole
      return `${before}"${absolute(double ?? single ?? bare ?? '', base)}"`
    },
  )
}

function absolute(target: string, base: string): string {
  const url = URL.parse(target, base)
  return url !== null && /^(https?|mailto):$/.test(url.protocol) ? url.href : '#'
}
