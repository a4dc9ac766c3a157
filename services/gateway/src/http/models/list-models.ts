import { ListedModel, ModelEntry, ProviderEntry } from '@mcp-host/contracts'
import { z } from 'zod'
import type { ModelList } from '../../status-summary.ts'
import { describeFields } from '../../projection/describe-fields.ts'
import type { Api } from '../../edge/api.ts'
import { faults, jsonAnswer } from '../../edge/api.ts'

const Model = describeFields(ListedModel, {
  id: "The provider's name of it; it is asked for as `provider/id`.",
  contextWindow: 'How many tokens of conversation and answer it takes at most.',
  tools: 'Whether it can call tools itself; absent when that is not known.',
  pictures: 'Whether it can see pictures; absent when that is not known.',
})

const Provider = describeFields(
  ProviderEntry.omit({ kind: true }).extend({ models: z.array(Model) }),
  {
    provider: 'Name of the provider.',
    state: '`unavailable`: the last request for its list of models failed.',
    error: 'Why that request failed.',
    defaultModel: 'The model that answers when only the provider is named.',
    contextWindow: 'Context window that is assumed for models whose own is unknown, in tokens.',
    models: 'Its models for conversations, in its order.',
  },
)

const Default = describeFields(ModelEntry.omit({ kind: true, faults: true, providers: true }), {
  provider: 'Its provider.',
  model: "The provider's name of it.",
  contextWindow: 'How many tokens of conversation and answer it takes at most.',
  notice: 'Something a user should know about it.',
})

const Models = z
  .object({
    default: Default.optional().describe(
      'The model for messages that name none; absent while no worker runs.',
    ),
    providers: z
      .array(Provider)
      .describe('Providers and their models, which are listed again every ten minutes.'),
  })
  .meta({ id: 'Models', description: 'The models that can answer.' })

export function addListModels(api: Api, { models }: { readonly models: () => ModelList }): void {
  api.get(
    '/models',
    {
      schema: {
        tags: ['models'],
        operationId: 'listModels',
        summary: 'List providers and their models',
        response: { 200: jsonAnswer('All that are known.', Models), ...faults(400) },
      },
    },
    () => models(),
  )
}
