import type { ServerStatus } from '@mcp-host/client'

/** A message for an empty chat, which the demo model understands too. */
export interface Suggestion {
  readonly text: string
  /** The tools that it calls: it is suggested where their servers run. */
  readonly tools: readonly { readonly server: string; readonly tool: string }[]
}

const SUGGESTIONS: readonly Suggestion[] = [
  {
    text: 'Read the text file shopping-list.md',
    tools: [{ server: 'filesystem', tool: 'read_text_file' }],
  },
  {
    text: 'Get the tiny image',
    tools: [{ server: 'everything', tool: 'get-tiny-image' }],
  },
  {
    text: 'Read the text file welcome.txt, then get the sum of 17 and 25',
    tools: [
      { server: 'filesystem', tool: 'read_text_file' },
      { server: 'everything', tool: 'get-sum' },
    ],
  },
  {
    text: 'Get the forecast for Oslo',
    tools: [{ server: 'weather', tool: 'get_forecast' }],
  },
  { text: 'What can you do?', tools: [] },
]

/** What the servers of the host can answer. */
export function suggestionsFor(servers: readonly ServerStatus[]): Suggestion[] {
  const isThere = (name: string): boolean =>
    servers.some(({ server, state }) => server === name && state !== 'unavailable')
  return SUGGESTIONS.filter(({ tools }) => tools.every(({ server }) => isThere(server)))
}
