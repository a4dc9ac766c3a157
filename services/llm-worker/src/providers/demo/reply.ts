import type { ModelRequest } from '../../model.ts'
import { explainTools, presentAnswers, shorten } from './answer-text.ts'
import type { Choice } from './choose-tool.ts'
import { planSteps } from './plan.ts'
import { readTurn } from './turn.ts'

/** One reply of the demo model: a tool call, or a text that ends the turn. */
export interface DemoReply {
  readonly reasoning: string
  readonly text?: string
  readonly call?: { readonly name: string; readonly arguments: string }
}

export function demoReply({ messages, tools }: ModelRequest): DemoReply {
  const { text, rounds } = readTurn(messages)
  const steps = planSteps(text, tools)
  const calls = steps.flatMap(({ clause, choice }) =>
    choice.kind === 'call' ? [{ clause, choice }] : [],
  )
  const next = calls[rounds.length]
  if (next !== undefined) {
    const { clause, choice } = next
    const { tool, arguments: given } = choice
    return {
      reasoning: reasonForCall(clause, choice),
      call: { name: tool.safeName, arguments: JSON.stringify(given) },
    }
  }
  if (rounds.length > 0) {
    return {
      reasoning: 'All steps are done, so I show what the tools answered.',
      text: presentAnswers(steps, rounds, tools),
    }
  }
  const reasoning =
    tools.length === 0
      ? 'There are no tools, and without one I can do nothing.'
      : `None of the ${tools.length} tools fits the message well enough.`
  return { reasoning, text: explainTools(steps, tools) }
}

function reasonForCall(clause: string, choice: Choice & { kind: 'call' }): string {
  const { tool, words, arguments: given } = choice
  const values = Object.entries(given).map(
    ([name, value]) => `${name} = ${shorten(JSON.stringify(value))}`,
  )
  const fits = words.map((word) => `“${word}”`).join(', ')
  const what = values.length === 0 ? 'It needs no arguments.' : `Arguments: ${values.join(', ')}.`
  return `For “${shorten(clause)}” I choose the tool ${tool.tool} of the server ${tool.server}. The message fits it by ${fits}. ${what}`
}
