// `npm run bench -- <name> [<part> ...]`: measures the host. Each bench ends with its figures as one line of JSON.
import { stopWithLauncher } from '../tools/lifeline.ts'
import { benchBlast } from './blast/bench-blast.ts'
import { benchCancel } from './cancel/bench-cancel.ts'
import { benchChat } from './chat/bench-chat.ts'
import { benchHost } from './host/bench-host.ts'
import { benchList } from './list/bench-list.ts'
import { benchLlm } from './llm/bench-llm.ts'
import { benchMcp } from './mcp/bench-mcp.ts'
import { benchResume } from './resume/bench-resume.ts'
import { benchStress } from './stress/bench-stress.ts'
import { benchTakeover } from './takeover/bench-takeover.ts'

interface Bench {
  readonly summary: string
  /** With the parts of it that are wanted; none: all. */
  readonly run: (parts: readonly string[]) => Promise<object>
}

const benches: Readonly<Record<string, Bench>> = {
  blast: {
    summary:
      'one hostile server of each kind beside three good ones: their calls, memory; 5 minutes',
    run: benchBlast,
  },
  cancel: {
    summary: '100 cancels: until the model provider and the tool server have heard of it',
    run: benchCancel,
  },
  chat: {
    summary: 'time to first text, added time per delta, tokens/s, CPU and memory',
    run: benchChat,
  },
  host: {
    summary: 'calls through the library beside the bare SDK client, start of 50 servers, memory',
    run: benchHost,
  },
  list: {
    summary: '500 tools of 50 servers as one list, two dead ones beside them; what a search spares',
    run: benchList,
  },
  llm: {
    summary: 'one worker beside the bare provider package: first text, CPU per token, 500 at once',
    run: benchLlm,
  },
  mcp: {
    summary:
      'calls through /mcp beside mcp-hub, mcp-proxy, supergateway and nothing between; 17 minutes',
    run: benchMcp,
  },
  resume: {
    summary: 'kill -9 of a gateway under 1,000 running turns: all clients come back to another',
    run: benchResume,
  },
  stress: {
    summary: 'history, result, queue, crowd, slow-reader: how others fare beside them, memory',
    run: benchStress,
  },
  takeover: {
    summary: 'kill -9 of the supervisor that runs a server: lease, first call, processes left',
    run: benchTakeover,
  },
}

stopWithLauncher()
const [name = '', ...parts] = process.argv.slice(2)
const bench = benches[name]
if (bench === undefined) {
  const list = Object.entries(benches).map(
    ([each, { summary }]) => `  ${each.padEnd(10)}${summary}\n`,
  )
  process.stderr.write(`Usage: npm run bench -- <name>\n\n${list.join('')}`)
  process.exitCode = name === '' || name.startsWith('-') ? 0 : 2
} else {
  const figures = await bench.run(parts)
  console.log(JSON.stringify({ bench: name, ...figures }))
}
