// `npm run bench -- <name> [<part> ...]`: measures the host. Each benchmark ends with its figures as one line of JSON.
import { stopWithLauncher } from '../tools/lifeline.ts'
import { benchBlast } from './blast/bench-blast.ts'
import { benchCancel } from './cancel/bench-cancel.ts'
import { benchChat } from './chat/bench-chat.ts'
import { benchHost } from './host/bench-host.ts'
import { benchIdle } from './idle/bench-idle.ts'
import { benchList } from './list/bench-list.ts'
import { benchLlm } from './llm/bench-llm.ts'
import { benchLogins } from './logins/bench-logins.ts'
import { benchMcp } from './mcp/bench-mcp.ts'
import { benchResume } from './resume/bench-resume.ts'
import { benchStress } from './stress/bench-stress.ts'
import { benchTakeover } from './takeover/bench-takeover.ts'
import { benchWeb } from './web/bench-web.ts'

/** Runs the named parts of a benchmark, or all parts. */
type Bench = (parts: readonly string[]) => Promise<object>

const benches: Readonly<Record<string, readonly [summary: string, run: Bench]>> = {
  blast: [
    'hostile servers and floods beside three good servers: latency of their calls, memory; 5 minutes',
    benchBlast,
  ],
  cancel: [
    '100 cancels: time until the model provider and the tool server receive them',
    benchCancel,
  ],
  chat: ['time to first text, added time per delta, tokens/s, CPU and memory', benchChat],
  host: [
    'calls through the library and the bare SDK client, start of 50 servers, memory',
    benchHost,
  ],
  idle: [
    'host, all of `npm start`; services, each from source and as built: ready time, idle memory; 9 minutes',
    benchIdle,
  ],
  list: [
    '500 tools of 50 servers as one list, beside two dead servers; size with a search',
    benchList,
  ],
  llm: [
    'one worker and the bare provider package: first text, CPU per token, 500 at once',
    benchLlm,
  ],
  logins: [
    'calls with the login of a user beside static headers; lists and calls beside an authorization server that does not answer',
    benchLogins,
  ],
  mcp: [
    'calls through /mcp, mcp-hub, mcp-proxy, supergateway and directly, 17 minutes; with --auth through /mcp with and without authentication, policy, limits and audit log, with --accounts with and without accounts of the services at nats-server, 4 minutes each',
    benchMcp,
  ],
  resume: [
    'kill -9 of a gateway with 1,000 running turns: all clients resume at another',
    benchResume,
  ],
  stress: [
    'history, result, queue, crowd, slow-reader: latency of other chats beside them, memory',
    benchStress,
  ],
  takeover: [
    'kill -9 of the supervisor that runs a server: lease, first call, remaining processes',
    benchTakeover,
  ],
  web: [
    'the web UI in Chromium: work of frames while streaming and scrolling, first text, a long session; heap for 30 minutes',
    benchWeb,
  ],
}

stopWithLauncher()
const [name = '', ...parts] = process.argv.slice(2)
const [, run] = benches[name] ?? []
if (run === undefined) {
  const list = Object.entries(benches).map(
    ([each, [summary]]) => `  ${each.padEnd(10)}${summary}\n`,
  )
  process.stderr.write(`Usage: npm run bench -- <name>\n\n${list.join('')}`)
  process.exitCode = name === '' || name.startsWith('-') ? 0 : 2
} else {
  console.log(JSON.stringify({ bench: name, ...(await run(parts)) }))
}
