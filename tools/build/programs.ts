/** The entry files of the programs that are built, by the names of their folders in `dist`. */
export const PROGRAMS: ReadonlyMap<string, string> = new Map([
  ['gateway', 'services/gateway/src/main.ts'],
  ['orchestrator', 'services/orchestrator/src/main.ts'],
  ['mcp-supervisor', 'services/mcp-supervisor/src/main.ts'],
  ['llm-worker', 'services/llm-worker/src/main.ts'],
  ['tools', 'tools/operator.ts'],
])
