import type { IncomingMessage } from 'node:http'

const ABSOLUTE = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)(.*)$/i

/**
 * Gives a request with an absolute address (RFC 9112, 3.2.2) its path and the host of that address, as any other request
 * has them.
 */
export function toOriginForm(request: IncomingMessage): void {
  const { url = '' } = request
  if (url.startsWith('/')) return
  const [, host, path = ''] = ABSOLUTE.exec(url) ?? []
  if (host === undefined) return
  request.url = path.startsWith('/') ? path : `/${path}`
  request.headers.host = host
}
