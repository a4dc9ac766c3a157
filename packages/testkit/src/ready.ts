/** Whether a gateway has a model, and `tools` tools of ready servers. */
export async function isReady(url: string, tools: number): Promise<boolean> {
  const response = await fetch(`${url}/health`).catch(() => undefined)
  // The gateway may be restarting.
  if (response === undefined) return false
  // Without a credential there are counts alone.
  const { counts } = (await response.json()) as { counts: { models: number; tools: number } }
  return counts.models > 0 && counts.tools === tools
}
