/** Names of services by the beginning of a contract's subject. */
const PARTNERS: Readonly<Record<string, string>> = {
  call: 'MCP supervisor',
  gen: 'model worker',
  llm: 'model worker',
  login: 'MCP supervisor',
  mcp: 'MCP supervisor',
  orch: 'orchestrator',
  principal: 'gateway',
  session: 'orchestrator',
  sup: 'MCP supervisor',
  tool: 'MCP supervisor',
}

/** The name of a subject's service for error messages. */
export function partnerName(subject: string): string {
  return PARTNERS[subject.slice(0, subject.indexOf('.'))] ?? 'service'
}
