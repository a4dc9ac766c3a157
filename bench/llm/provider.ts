// A provider that speaks OpenAI's chat completions, and writes time stamps as tokens at the requested rate.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { listen } from '../../tools/host/listen.ts'
import { nowUs } from '../chat/load.ts'
import type { Answer } from './load.ts'

const server = createServer((request, response) => {
  // The request for its models.
  if (request.method === 'GET') response.writeHead(404).end()
  else void answer(request, response)
})

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { messages } = JSON.parse(await text(request)) as { messages: { content: string }[] }
  const { tokens, tokensPerSecond } = JSON.parse(messages.at(-1)?.content ?? '') as Answer
  const send = (delta: object, finish_reason: string | null = null): void => {
    const choices = [{ index: 0, delta, finish_reason }]
    const chunk = { id: 'c', object: 'chat.completion.chunk', choices }
    response.write(`data: ${JSON.stringify(chunk)}\n\n`)
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const begin = performance.now()
  let written = 0
  const write = (): void => {
    if (response.destroyed) return
    send({ content: `${Math.round(nowUs())} ` })
    if (++written === tokens) {
      send({}, 'stop')
      response.end('data: [DONE]\n\n')
      return
    }
    setTimeout(write, Math.max(0, begin + (written * 1_000) / tokensPerSecond - performance.now()))
  }
  write()
}

console.log(`http://127.0.0.1:${await listen(server)}/v1`)
