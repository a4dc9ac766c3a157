const SAFE_SCHEMES = new Set(['http:', 'https:', 'mailto:'])

/** The address of a link that may be followed; `undefined` for scripts, data, files and addresses within this page. */
export function safeLink(href: string): string | undefined {
  const url = URL.parse(href)
  return url !== null && SAFE_SCHEMES.has(url.protocol) ? url.href : undefined
}

/** The address of a picture that needs no request: other pictures would tell foreign hosts what is read. */
export function inlinePicture(href: string): string | undefined {
  return /^data:image\/(?:png|jpeg|gif|webp);base64,[\w+/=]+$/.test(href) ? href : undefined
}
