import { describeFileFault, fileFaults } from '@mcp-host/contracts'
import { z } from 'zod'
import type { Api } from '../../edge/api.ts'
import { faults, jsonAnswer } from '../../edge/api.ts'
import type { ServerRoutesDeps } from './server-routes-deps.ts'

const FileFaults = z
  .object({
    files: z
      .array(
        z.object({
          setting: z.string().describe('The setting that names the file, such as `POLICY_CONFIG`.'),
          file: z.string().describe('Name of the file, such as `policy.json`, without its folder.'),
          fault: z.string().describe('The faults with their places and remedies, as a sentence.'),
        }),
      )
      .describe('Without the files that are in order.'),
  })
  .meta({
    id: 'FileFaults',
    description:
      'Changed files of settings that cannot be used. Their contents before stay in effect.',
  })

export function addListFileFaults(api: Api, { catalog }: Pick<ServerRoutesDeps, 'catalog'>): void {
  api.get(
    '/file-faults',
    {
      schema: {
        tags: ['servers'],
        operationId: 'listFileFaults',
        summary: 'List the changed files of settings that cannot be used',
        response: { 200: jsonAnswer('The faulty files.', FileFaults), ...faults(400) },
      },
    },
    async () => ({
      files: fileFaults(catalog.entries.values()).map((each) => ({
        setting: each.setting,
        file: each.file,
        fault: describeFileFault(each),
      })),
    }),
  )
}
