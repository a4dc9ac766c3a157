import {
  Attachment,
  BlobReference,
  ErrorInfo,
  ModelUsage,
  TurnOutcome,
  Usage,
} from '@mcp-host/contracts'
import { z } from 'zod'
import { describeFields } from './describe-fields.ts'

/** Descriptions of fields that several answers share. */
export const WORDS = {
  turnOutcome:
    'How the turn ended. `limit`: the model wanted more tool calls, tokens or time than a turn may have; `cancelled`: a user ended it.',
  toolOutcome:
    '`error`: the tool said so, or it could not be run. `refused`: it never reached a server. `unknown`: whether it took effect cannot be known. `cancelled`: its turn was ended.',
  toolName: '`server.tool`, or the bare name when the model called a tool that does not exist.',
  arguments: 'An object, or whatever the model wrote when that was not valid JSON.',
  structuredContent: 'As the tool sent it.',
  toolError: 'Set when the host, not the tool, reports the failure.',
  durationMs: 'How long the call took, in milliseconds.',
} as const

export const Failure = describeFields(ErrorInfo, {
  code: 'The kind of failure, for programs.',
  message: 'The cause and the remedy, in words.',
  field: 'The field of the request that is at fault, where it is known.',
  retryAfterMs: 'When the same request may be sent again, in milliseconds from now.',
  attempt: 'Which attempt this was, counted from 1, where something was tried more than once.',
  recovery:
    'The next step of the host. `retry`: it tries again; `shorten`: it sends less of the conversation; `tell-model`: the model continues without the result; `tell-user`: none, the user decides.',
  reason:
    'Finer than `code`. `context-overflow`: the conversation is too long for the model. `expired`: the session was deleted because nothing happened in it. `maintenance`: an operator has announced it.',
})

const tokens = {
  inputTokens: 'All that was sent to the model.',
  outputTokens: 'All that it wrote.',
  reasoningTokens: 'Output tokens of reasoning.',
  cachedInputTokens: 'Input tokens that the provider had in its cache.',
  isEstimate: 'Set where the provider did not count: an estimate stands in, be it for a part.',
  cost: 'Cost, in the currency of the prices in `llm.json`; absent without prices.',
}

const COUNTED = 'Tokens, as the provider counted them, else estimated; what is not known is absent.'

export const Tokens = describeFields(Usage, tokens).describe(COUNTED)

export const TokensByModel = z
  .array(
    describeFields(ModelUsage, {
      ...tokens,
      provider: 'Provider of the model.',
      model: 'Its name there.',
      generations: 'How many of its answers are counted here.',
    }).describe(COUNTED),
  )
  .describe('Tokens and cost by model, including abandoned answers.')

export const WholeResult = describeFields(BlobReference, {
  key: 'Its name in the store of the host.',
  bytes: 'Its size.',
  digest: 'Its SHA-256.',
}).describe(
  'Where the host keeps it, for 30 days: get it with `GET /api/chat/session/{id}/file/{key}`.',
)

export const Attachments = z.array(
  describeFields(Attachment.extend({ blob: WholeResult }), {
    mimeType: 'Such as `image/png`.',
    name: 'Name of the file, if it has one.',
    blob: WholeResult.description ?? '',
  }),
)

export const ContentBlocks = z
  .array(z.looseObject({ type: z.string().describe('`text`, `image`, `resource` and so on.') }))
  .describe('MCP content blocks.')

export const Outcome = TurnOutcome.describe(WORDS.turnOutcome)
