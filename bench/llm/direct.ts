// Calls the provider package without a host. Reads a load from each line of its input, and prints its figures as JSON.
import { createInterface } from 'node:readline'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { nowUs } from '../chat/load.ts'
import type { Answer, AnswerFigures, Load } from './load.ts'
import { applyLoad } from './load.ts'

const [, , baseURL = ''] = process.argv
const model = createOpenAICompatible({ name: 'direct', baseURL })('m')

async function ask({ tokens, tokensPerSecond }: Answer): Promise<AnswerFigures> {
  const askedAt = nowUs()
  const text = JSON.stringify({ tokens, tokensPerSecond })
  const { stream } = await model.doStream({
    prompt: [{ role: 'user', content: [{ type: 'text', text }] }],
  })
  const deltas: number[] = []
  let first = Number.NaN
  for await (const part of stream) {
    if (part.type !== 'text-delta') continue
    const at = nowUs()
    if (deltas.length === 0) first = (at - askedAt) / 1_000
    deltas.push((at - Number(part.delta)) / 1_000)
  }
  if (deltas.length !== tokens) throw new Error(`an answer had ${deltas.length} tokens`)
  return { first, deltas }
}

for await (const line of createInterface({ input: process.stdin })) {
  const load = JSON.parse(line) as Load
  console.log(JSON.stringify(await applyLoad(load, () => ask(load))))
}
