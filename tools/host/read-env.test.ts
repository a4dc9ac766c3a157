import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '@mcp-host/service'
import { testFolder } from '@mcp-host/testkit'
import { expect, test } from 'vitest'
import { readEnv } from './read-env.ts'

const text = 'TOOL_APPROVAL=*\r\nPORT=3001\r\n'

test.each([
  ['UTF-8 with a byte order mark', Buffer.from(`\uFEFF${text}`)],
  ['UTF-16', Buffer.from(`\uFEFF${text}`, 'utf16le')],
])('all settings of a .env in %s count', async (_, bytes) => {
  await using folder = await testFolder()
  writeFileSync(join(folder.path, '.env'), bytes)
  expect(readEnv({}, folder.path)).toEqual({ TOOL_APPROVAL: '*', PORT: '3001' })
})

test('a .env in another encoding is named as unreadable, with the remedy', async () => {
  await using folder = await testFolder()
  const file = join(folder.path, '.env')
  writeFileSync(file, Buffer.from('SYSTEM_PROMPT=für', 'latin1'))
  const read = (): unknown => readEnv({}, folder.path)
  expect(read).toThrow(ConfigError)
  expect(read).toThrow(`${file}: is no text in UTF-8 or UTF-16; save it as UTF-8`)
})
