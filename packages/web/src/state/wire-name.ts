/** The server and the own name of something that many servers offer together, as `server__name`. */
export function splitWireName(name: string): {
  readonly server: string | undefined
  readonly own: string
} {
  const [, server, own = name] = /^(.+?)__(.+)$/.exec(name) ?? []
  return { server, own }
}
