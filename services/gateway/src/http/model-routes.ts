import { ListedModel, ModelEntry, ProviderEntry } from '@mcp-host/contracts'
import { z } from 'zod'
import type { ModelList } from '../status-summary.ts'
import { describeFields } from '../projection/describe-fields.ts'
import type { Api } from '../edge/api.ts'
import { faults, jsonAnswer } from '../edge/api.ts'

const Model = describeFields(ListedModel, {
  id: "The provider's name of it; it is asked for as `provider/id`.",
  contextWindow: 'How many tokens of conversation and answer it takes at most.',
  tools: 'Whether it can call tools itself; absent when that is not known.',
  pictures: 'Whether it can see pictures; absent when that is not known.',
})

const Provider = describeFields(
  ProviderEntry.omit({ kind: true }).extend({ models: z.array(Model) }),
  {
    provider: 'Its name.',
    state: '`unavailable`: it did not list its models when it was asked last.',
    error: 'Why it did not.',
    defaultModel: 'Which model answers when only the provider is named.',
    contextWindow: 'Of models of which no more is known.',
    models: 'Those that hold conversations, as it lists them.',
  },
)

const Default = describeFields(ModelEntry.omit({ kind: true, faults: true }), {
  provider: 'Its provider.',
  model: "The provider's name of it.",
  contextWindow: 'How many tokens of conversation and answer it takes at most.',
  notice: 'Something a user should know about it.',
})

const Models = z
  .object({
    default: Default.optional().describe(
      'Who answers when a message names nobody; absent when no worker runs yet.',
    ),
    providers: z.array(Provider).describe('Who may be named, asked every ten minutes.'),
  })
  .meta({ id: 'Models', description: 'Who may answer.' })

/** The models that can be chosen. */
export function addModelRoutes(api: Api, { models }: { readonly models: () => ModelList }): void {
  api.get(
    '/models',
    {
      schema: {
        tags: ['models'],
        operationId: 'listModels',
        summary: 'Who may answer: providers and their models',
        response: { 200: jsonAnswer('All that are known.', Models), ...faults(400) },
      },
    },
    () => models(),
  )
}
