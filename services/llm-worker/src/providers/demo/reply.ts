import type { ModelRequest } from '../../model.ts'
import { explainTools, presentAnswers } from './answer-text.ts'
import { planSteps } from './plan.ts'
import { reasonForCall, reasonForText } from './reasoning.ts'
import { readTurn } from './turn.ts'

/** One reply of the rule-based model: a tool call, or a text that ends the turn. */
export interface DemoReply {
  readonly reasoning: string
  readonly text?: string
  readonly call?: { readonly name: string; readonly arguments: string }
}

export function demoReply({ messages, tools }: ModelRequest): DemoReply {
  const { text, rounds } = readTurn(messages)
  const steps = planSteps(text, tools)
  const calls = steps.filter(({ choice }) => choice.kind === 'call')
  const next = calls[rounds.length]
  if (next?.choice.kind === 'call') {
    return {
      reasoning: reasonForCall(next.clause, next.choice),
      call: {
        name: next.choice.tool.safeName,
        arguments: JSON.stringify(next.choice.arguments),
      },
    }
  }
  const isAnswered = rounds.length > 0
  return {
    reasoning: reasonForText(isAnswered, tools.length),
    text: isAnswered ? presentAnswers(steps, rounds, tools) : explainTools(steps, tools),
  }
}
