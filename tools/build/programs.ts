/** The entry files of the programs that are built, by the names of their folders in `dist`. */
type Programs = ReadonlyMap<string, string>

const SERVICES = [
  ['gateway', 'services/gateway/src/main.ts'],
  ['orchestrator', 'services/orchestrator/src/main.ts'],
  ['mcp-supervisor', 'services/mcp-supervisor/src/main.ts'],
  ['llm-worker', 'services/llm-worker/src/main.ts'],
] as const

/** Those of images. */
export const PROGRAMS: Programs = new Map([...SERVICES, ['tools', 'tools/operator.ts']])

/** Those of `npm start`. */
export const HOST_PROGRAMS: Programs = new Map([...SERVICES, ['start', 'tools/start.ts']])
