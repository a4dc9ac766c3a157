/** A process that sends or receives messages; `tools` are the commands for operators. */
export type Participant = 'gateway' | 'orchestrator' | 'llm-worker' | 'mcp-supervisor' | 'tools'

/** A participant that serves clients or runs their work, unlike the commands for operators. */
export type ServiceParticipant = Exclude<Participant, 'tools'>

/**
 * The account of each participant on the bus. Streams and buckets are in `STORE`, where no service is: a reply of the
 * broker to a service then stays in the account of the service.
 */
export const ACCOUNTS = {
  gateway: 'EDGE',
  orchestrator: 'APP',
  'llm-worker': 'LLM',
  'mcp-supervisor': 'SUP',
  tools: 'STORE',
} as const satisfies Record<Participant, string>

export type AccountName = (typeof ACCOUNTS)[Participant]
