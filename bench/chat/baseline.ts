// The cost of a chat in a single process without a log: writes the same stamped tokens, one frame each, to the same
// kind of socket.
import websocket from '@fastify/websocket'
import { fastify } from 'fastify'
import { nowUs } from './load.ts'

interface Step {
  readonly tokens: number
  readonly tokensPerSecond: number
}

const app = fastify()
await app.register(websocket)
app.get('/ws', { websocket: true }, (socket) => {
  const send = (type: string, payload: object): void =>
    socket.send(JSON.stringify({ type, payload }))
  send('connection', { state: 'connected' })
  socket.on('message', (data: Buffer) => {
    const { payload } = JSON.parse(data.toString()) as { payload: { text: string } }
    const [step] = (JSON.parse(payload.text) as { script: Step[] }).script
    send('accepted', {})
    send('turn', { state: 'started' })
    const begin = performance.now()
    let written = 0
    const write = (): void => {
      if (step === undefined) return
      send('text', { content: `${Math.round(nowUs())} ` })
      if (++written === step.tokens) return send('turn', { state: 'done', outcome: 'completed' })
      const dueMs = begin + (written * 1_000) / step.tokensPerSecond - performance.now()
      setTimeout(write, Math.max(0, dueMs))
    }
    write()
  })
})
console.log(await app.listen({ host: '127.0.0.1', port: 0 }))
