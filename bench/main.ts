// `npm run bench -- <name>`: measures the host. Each bench ends with its figures as one line of JSON.
import { stopWithLauncher } from '../tools/lifeline.ts'
import { benchChat } from './chat/bench-chat.ts'
import { benchHost } from './host/bench-host.ts'
import { benchTakeover } from './takeover/bench-takeover.ts'

const benches: Readonly<Record<string, { summary: string; run: () => Promise<object> }>> = {
  chat: {
    summary: 'time to first text, added time per delta, tokens/s, CPU and memory',
    run: benchChat,
  },
  host: {
    summary: 'calls through the library beside the bare SDK client, start of 50 servers, memory',
    run: benchHost,
  },
  takeover: {
    summary: 'kill -9 of the supervisor that runs a server: lease, first call, processes left',
    run: benchTakeover,
  },
}

stopWithLauncher()
const [name = ''] = process.argv.slice(2)
const bench = benches[name]
if (bench === undefined) {
  const list = Object.entries(benches).map(
    ([each, { summary }]) => `  ${each.padEnd(10)}${summary}\n`,
  )
  process.stderr.write(`Usage: npm run bench -- <name>\n\n${list.join('')}`)
  process.exitCode = name === '' || name.startsWith('-') ? 0 : 2
} else {
  const figures = await bench.run()
  console.log(JSON.stringify({ bench: name, ...figures }))
}
