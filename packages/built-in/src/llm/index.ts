import { McpServer, type ServerContext } from '@modelcontextprotocol/server'
import * as z from 'zod'

import { type Agreement, agreementOf, judgePrompt, readJudgement } from './agreement.ts'
import { askModels, reasonOf } from './ask-models.ts'
import type { HostModels, Question } from './ask.ts'
import { MAX_TOKENS, modelName, OneAnswer, questionFields, questionOf, Usage } from './fields.ts'

export type { HostModels, KnownModel, ModelAnswer, Question } from './ask.ts'

const MAX_MODELS = 10
const MIN_FOR_CONSENSUS = 3
/** The limit for the models that an error names. */
const MAX_NAMED = 5
const SECONDS = { default: 60, max: 600 }

const severalFields = {
  timeout_seconds: z
    .number()
    .min(1)
    .max(SECONDS.max)
    .default(SECONDS.default)
    .describe('How long each model may take.'),
  ...questionFields,
}
/** An answer costs tokens, and another one may differ, so that neither is asked for twice or shared. */
const ASKS = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
}

/** The models of the host as tools. */
export function createLlmServer(host: HostModels, version: string): McpServer {
  const server = new McpServer({ name: 'llm', version })
  addListModels(server, host)
  addChat(server, host)
  addParallel(server, host)
  addConsensus(server, host)
  return server
}

function addListModels(server: McpServer, host: HostModels): void {
  const Model = z.object({
    id: z.string(),
    provider: z.string(),
    contextWindow: z.number().optional(),
    isDefault: z.boolean(),
  })
  server.registerTool(
    'llm_list_models',
    {
      title: 'List models',
      description: 'Lists the models that this host can ask.',
      inputSchema: z.object({
        provider: z.string().optional().describe('Only the models of this provider.'),
      }),
      outputSchema: z.object({ models: z.array(Model) }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ provider }) => {
      const models = host
        .list()
        .filter((each) => provider === undefined || each.provider === provider)
      return structured({ models: models.map((each) => ({ ...each })) })
    },
  )
}

function addChat(server: McpServer, host: HostModels): void {
  server.registerTool(
    'llm_chat',
    {
      title: 'Ask a model',
      description: 'Asks a model, and returns its whole answer.',
      inputSchema: z.object({ model: modelName.optional(), ...questionFields }),
      outputSchema: z.object({
        model: z.string().describe('The model that answered.'),
        response: z.string(),
        stopReason: z.string().describe('endTurn, maxTokens or stopSequence.'),
        usage: Usage,
      }),
      annotations: ASKS,
    },
    ({ model, ...asked }, { mcpReq: { signal } }) =>
      orError(async () => {
        const question = questionOf(asked)
        const answer = await host.ask({ ...question, model }, signal).catch((error: unknown) => {
          throw new Error(reasonOf(error) + insteadOf(model, host), { cause: error })
        })
        const { text: response, model: answered, stopReason, usage } = answer
        const found = { model: answered, response, stopReason, ...(usage && { usage }) }
        return { content: [{ type: 'text', text: response }], structuredContent: found }
      }),
  )
}

function addParallel(server: McpServer, host: HostModels): void {
  server.registerTool(
    'llm_parallel',
    {
      title: 'Ask several models',
      description: 'Asks several models the same question at once, and returns all answers.',
      inputSchema: z.object({
        models: z.array(modelName).min(1).max(MAX_MODELS),
        ...severalFields,
      }),
      outputSchema: z.object({ responses: z.array(OneAnswer) }),
      annotations: ASKS,
    },
    ({ models, timeout_seconds, ...asked }, context) =>
      orError(async () => {
        const asking = { ...reporting(context, models.length), limitMs: timeout_seconds * 1_000 }
        const responses = await askModels(host, models, questionOf(asked), asking)
        const isError = responses.every(({ error }) => error !== undefined)
        const content = [{ type: 'text' as const, text: JSON.stringify(responses) }]
        return { content, structuredContent: { responses }, ...(isError && { isError }) }
      }),
  )
}

function addConsensus(server: McpServer, host: HostModels): void {
  server.registerTool(
    'llm_consensus',
    {
      title: 'Find a consensus',
      description:
        'Asks at least three models the same question, and tells how many of them agree, with every answer.',
      inputSchema: z.object({
        models: z
          .array(modelName)
          .min(MIN_FOR_CONSENSUS)
          .max(MAX_MODELS)
          .refine((names) => new Set(names).size === names.length, 'names a model twice'),
        judge: modelName
          .optional()
          .describe('A model that says which answers agree. Default: those with the same text do.'),
        ...severalFields,
      }),
      outputSchema: z.object({
        consensus: z.string().describe('What most of them say.'),
        agreementCount: z.number().describe('How many models say that.'),
        totalModels: z.number().describe('How many models were asked.'),
        allResponses: z.array(OneAnswer.extend({ agrees: z.boolean() })),
        judgedBy: z.string().optional().describe('The model that compared the answers.'),
        judgeError: z.string().optional().describe('Why the judge compared nothing.'),
      }),
      annotations: ASKS,
    },
    ({ models, judge, timeout_seconds, ...asked }, context) =>
      orError(async () => {
        const limitMs = timeout_seconds * 1_000
        const steps = models.length + (judge === undefined ? 0 : 1)
        const asking = { ...reporting(context, steps), limitMs }
        const question = questionOf(asked)
        const responses = await askModels(host, models, question, asking)
        const answered = responses.flatMap(({ response }, index) =>
          response === undefined ? [] : [{ response, index }],
        )
        const texts = answered.map(({ response }) => response)
        const judged =
          judge === undefined || texts.length < 2
            ? undefined
            : await judgeAnswers(host, { judge, question, texts }, asking)
        const { agreement = agreementOf(texts), ...by } = judged ?? {}
        if (agreement === undefined) {
          const reasons = responses.map(({ model, error }) => `${model}: ${error}`)
          throw new Error(`no model has answered: ${reasons.join('; ')}`)
        }
        const agreeing = new Set(agreement.members.map((member) => answered[member]?.index))
        return structured({
          consensus: agreement.answer,
          agreementCount: agreeing.size,
          totalModels: models.length,
          allResponses: responses.map((each, index) => ({ ...each, agrees: agreeing.has(index) })),
          ...by,
        })
      }),
  )
}

interface Judging {
  readonly judge: string
  readonly question: Omit<Question, 'model'>
  readonly texts: readonly string[]
}

interface Judgement {
  readonly agreement?: Agreement
  readonly judgedBy?: string
  readonly judgeError?: string
}

/** Without a judgement that can be read, the texts are compared. */
async function judgeAnswers(
  host: HostModels,
  { judge, question, texts }: Judging,
  asking: Parameters<typeof askModels>[3],
): Promise<Judgement> {
  const asked = question.messages.map(({ text }) => text).join('\n\n')
  const messages = [{ role: 'user' as const, text: judgePrompt(asked, texts) }]
  const request = {
    messages,
    temperature: 0,
    maxTokens: Math.min(question.maxTokens + 200, MAX_TOKENS),
  }
  const [said] = await askModels(host, [judge], request, asking)
  const agreement = readJudgement(said?.response ?? '', texts.length)
  if (agreement !== undefined) return { agreement, judgedBy: judge }
  return { judgeError: said?.error ?? 'its answer is not the JSON that was asked for' }
}

/** Reports each answer to the caller as progress. */
function reporting({ mcpReq }: ServerContext, total: number) {
  const { signal, _meta, notify } = mcpReq
  const progressToken = _meta?.progressToken
  let progress = 0
  return {
    signal,
    onAnswer({ model, error }: OneAnswer): void {
      progress += 1
      if (progressToken === undefined) return
      const message = error === undefined ? `${model} has answered` : `${model} failed: ${error}`
      const params = { progressToken, progress, total, message }
      // A caller that has left needs no progress.
      notify({ method: 'notifications/progress', params }).catch(() => undefined)
    },
  }
}

/** What else would answer, for the end of an error. */
function insteadOf(asked: string | undefined, host: HostModels): string {
  const [provider] = asked?.split('/') ?? []
  const others = host.list().filter((each) => each.provider !== provider)
  // One of each provider, the default model first.
  const byProvider = Map.groupBy(
    others.toSorted((one, other) => Number(other.isDefault) - Number(one.isDefault)),
    (each) => each.provider,
  )
  const names = Array.from(byProvider.values(), ([first]) => first?.id).slice(0, MAX_NAMED)
  return names.length === 0 ? '' : `. Other models: ${names.join(', ')}`
}

function structured<Content extends Record<string, unknown>>(structuredContent: Content) {
  const content = [{ type: 'text' as const, text: JSON.stringify(structuredContent) }]
  return { content, structuredContent }
}

/** Tells a failure as the result of the tool, so that a model can read it. */
async function orError<Result>(work: () => Promise<Result>) {
  try {
    return await work()
  } catch (error) {
    return { content: [{ type: 'text' as const, text: reasonOf(error) }], isError: true }
  }
}
