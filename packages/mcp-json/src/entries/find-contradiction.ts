/** A contradiction between fields of a server, if there is one. */
export function findContradiction({
  auth,
  headers,
  instances,
  balance,
  scope,
}: Readonly<Record<string, unknown>>):
  | { readonly field: string; readonly message: string; readonly remedy: string }
  | undefined {
  if (instances === undefined && balance !== undefined) {
    const message = 'has nothing to spread requests over'
    return { field: 'balance', message, remedy: 'Give the server "instances", or remove it.' }
  }
  if (instances !== undefined && scope === 'session') {
    const message =
      'contradicts "scope": "session", with which each session has a process of its own'
    return { field: 'instances', message, remedy: 'Remove one of the two.' }
  }
  if (auth !== undefined && hasAuthorization(headers)) {
    const message = 'contradicts the header "Authorization", which the token is sent in'
    return { field: 'auth', message, remedy: 'Remove one of the two.' }
  }
  return undefined
}

function hasAuthorization(headers: unknown): boolean {
  return Object.keys(Object(headers)).some((name) => name.toLowerCase() === 'authorization')
}
