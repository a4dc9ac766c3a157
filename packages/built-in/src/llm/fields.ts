import * as z from 'zod'

import type { Question } from './ask.ts'

const TEMPERATURE = 0.7
const DEFAULT_TOKENS = 1_000
export const MAX_TOKENS = 100_000
/** The limit for a question, in characters. */
const MAX_LENGTH = 200_000
const text = z.string().max(MAX_LENGTH)

/** What every question has. */
export const questionFields = {
  prompt: text.optional().describe('The question. Either this or messages.'),
  messages: z
    .array(z.object({ role: z.enum(['user', 'assistant', 'system']), content: text }))
    .min(1)
    .max(200)
    .optional()
    .describe('A conversation that ends with the question, instead of prompt.'),
  system_prompt: text.optional().describe('What the model is told before the conversation.'),
  temperature: z
    .number()
    .min(0)
    .max(2)
    .default(TEMPERATURE)
    .describe('How much answers vary: 0 little, 2 much.'),
  max_tokens: z
    .number()
    .int()
    .min(1)
    .max(MAX_TOKENS)
    .default(DEFAULT_TOKENS)
    .describe('The limit for the length of the answer, in tokens.'),
}

export const modelName = z
  .string()
  .min(1)
  .max(300)
  .describe('A model as llm_list_models names it, such as openai/gpt-5, or a provider alone.')

const Fields = z.object(questionFields)

/** The question without its model. Throws for one that asks nothing. */
export function questionOf({
  prompt,
  messages = [],
  system_prompt,
  temperature,
  max_tokens,
}: z.infer<typeof Fields>): Omit<Question, 'model'> {
  const given = messages.flatMap(({ role, content }) =>
    role === 'system' ? [] : [{ role, text: content }],
  )
  const asked = prompt === undefined ? [] : [{ role: 'user' as const, text: prompt }]
  const all = [...given, ...asked]
  if (all.at(-1)?.role !== 'user') {
    throw new Error('write a prompt, or messages of which the last one is of the user')
  }
  const system = [
    ...(system_prompt === undefined ? [] : [system_prompt]),
    ...messages.flatMap(({ role, content }) => (role === 'system' ? [content] : [])),
  ].join('\n\n')
  return {
    messages: all,
    systemPrompt: system === '' ? undefined : system,
    temperature,
    maxTokens: max_tokens,
  }
}

export const Usage = z
  .object({ inputTokens: z.number(), outputTokens: z.number() })
  .optional()
  .describe('Tokens, where they are known.')

/** The answer of one of several models. */
export const OneAnswer = z.object({
  model: z.string().describe('The model that was asked.'),
  response: z.string().optional().describe('Its answer; absent when it failed.'),
  error: z.string().optional().describe('Why it did not answer.'),
  answeredBy: z.string().optional().describe('The model that answered in its place.'),
  usage: Usage,
})
export type OneAnswer = z.infer<typeof OneAnswer>
