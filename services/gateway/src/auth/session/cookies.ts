import type { IncomingHttpHeaders } from 'node:http'

/** The value of a cookie; `undefined` when the request has none of that name. */
export function readCookie({ cookie }: IncomingHttpHeaders, name: string): string | undefined {
  if (cookie === undefined) return undefined
  for (const pair of cookie.split(';')) {
    const equals = pair.indexOf('=')
    if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim()
  }
  return undefined
}

/** A `Set-Cookie` value that scripts cannot read and browsers do not send from other sites. */
export function setCookie(
  name: string,
  value: string,
  { isSecure, maxAgeMs }: { readonly isSecure: boolean; readonly maxAgeMs: number },
): string {
  const parts = [
    `${name}=${value}`,
    'Path=/',
    `Max-Age=${Math.floor(maxAgeMs / 1_000)}`,
    'HttpOnly',
    'SameSite=Lax',
  ]
  return [...parts, ...(isSecure ? ['Secure'] : [])].join('; ')
}
