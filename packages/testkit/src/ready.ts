/** Whether a gateway knows a model and so many tools of servers that are ready. */
export async function isReady(url: string, tools: number): Promise<boolean> {
  const response = await fetch(`${url}/health`).catch(() => undefined)
  // The gateway itself may be what is being restarted.
  if (response === undefined) return false
  const health = (await response.json()) as {
    model?: unknown
    servers: { state: string; tools: number }[]
  }
  const found = health.servers
    .filter(({ state }) => state === 'ready')
    .reduce((sum, each) => sum + each.tools, 0)
  return health.model !== undefined && found === tools
}
