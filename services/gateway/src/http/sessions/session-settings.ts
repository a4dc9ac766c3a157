import type { SessionRecord } from '@mcp-host/contracts'
import { MessageUp, ModelReference, SessionSettings, SettingsChange } from '@mcp-host/contracts'
import { z } from 'zod'
import { describeFields } from '../../projection/describe-fields.ts'

const MAX_TITLE_LENGTH = 200

const Title = MessageUp.shape.payload.shape.text
  .refine((title) => title.trim() !== '', 'must not be empty')
  .refine((title) => title.length <= MAX_TITLE_LENGTH, {
    error: `must not be longer than ${MAX_TITLE_LENGTH} characters`,
  })
  .meta({ minLength: 1, maxLength: MAX_TITLE_LENGTH })

const Model = ModelReference.describe(
  'The model for its next messages that name none, as `provider/model` or `provider`; `GET /api/chat/models` lists them.',
)

const SETTINGS = {
  systemPrompt: 'System prompt of the session, in place of `SYSTEM_PROMPT`.',
  temperature: 'Sampling temperature of its answers, from 0 to 2.',
  maxToolCalls: 'How many tool calls each of its turns may make, in place of `MAX_TOOL_CALLS`.',
  servers: 'The MCP servers whose tools it may use, by their names in `mcp.json`.',
  accounts:
    'Which of several logins at MCP servers its calls use: labels of logins by names of servers.',
}
const SETTINGS_CHANGE = {
  systemPrompt: `${SETTINGS.systemPrompt} \`null\`: as the host is set.`,
  temperature: `${SETTINGS.temperature} \`null\`: as the provider is set.`,
  maxToolCalls: `${SETTINGS.maxToolCalls} \`null\`: as the host is set.`,
  servers: `${SETTINGS.servers} \`null\`: all.`,
  accounts: `${SETTINGS.accounts} \`null\`: those that are used by default.`,
}

// Bodies are JSON already, so the recursive schema of JSON is left out of the API's description.
const Metadata = z
  .looseObject({})
  .transform((value) => value as NonNullable<SessionRecord['metadata']>)
  .describe("The caller's own, up to 16,384 characters of JSON; it means nothing to the host.")

/** The body of a new session. */
export const NewSession = z.object({
  title: Title.optional(),
  model: Model.optional(),
  ...describeFields(SessionSettings, SETTINGS).shape,
  metadata: Metadata.optional(),
})

/** The body of a change. `null` restores the default. */
export const SessionChange = z
  .object({
    title: Title.optional(),
    model: Model.nullable()
      .optional()
      .describe(`${Model.description} \`null\`: the one that answers by default.`),
    ...describeFields(SettingsChange, SETTINGS_CHANGE).shape,
    metadata: Metadata.nullable().optional(),
  })
  .refine((body) => Object.values(body).some((value) => value !== undefined), {
    error: 'needs a title, a model, settings or metadata',
    path: ['title'],
  })
