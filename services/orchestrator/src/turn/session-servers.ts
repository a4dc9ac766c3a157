/** Whether a session uses the tools of a server. A session that chose no servers uses all, also later ones. */
export function usesServer(
  { servers }: { readonly servers?: readonly string[] | undefined },
  server: string,
): boolean {
  return servers?.includes(server) ?? true
}
