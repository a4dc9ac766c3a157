import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { testFolder } from '@mcp-host/testkit'
import { expect, test } from 'vitest'
import { openProviderLogin } from './open-provider-login.ts'

test('a client secret in a file of another encoding is named as unreadable, with the remedy', async () => {
  await using folder = await testFolder()
  const file = join(folder.path, 'secret')
  writeFileSync(file, Buffer.from('geheimnüs', 'latin1'))
  const config = { oidcClientSecretFile: file } as Parameters<typeof openProviderLogin>[1]
  const deps = {} as Parameters<typeof openProviderLogin>[0]
  await expect(openProviderLogin(deps, config)).rejects.toThrow(
    `OIDC_CLIENT_SECRET_FILE=${file}: is no text in UTF-8 or UTF-16; save it as UTF-8`,
  )
})
