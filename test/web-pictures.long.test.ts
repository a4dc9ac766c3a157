// Pictures of the web UI for the README and the guides, with the demo model.
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually, serverStates, startStack } from '@mcp-host/testkit'
import type { Page } from 'playwright-core'
import { test } from 'vitest'
import { buildWeb, webFolder } from '../tools/web/build-web.ts'
import { chromiumPath, startBrowser } from './browser.ts'
import { Pictures } from './web-pictures.ts'

const root = join(import.meta.dirname, '..')
const command = join(root, 'node_modules', '.bin', 'mcp-server-filesystem')
const title = `pictures of the web UI${chromiumPath === undefined ? ' (SKIPPED: this machine has no Chromium)' : ''}`

test.skipIf(chromiumPath === undefined)(title, async () => {
  const folder = webFolder()
  await buildWeb(folder)
  // The name of the folder is in the pictures.
  const files = '/tmp/files'
  await mkdir(files, { recursive: true })
  for (const name of ['welcome.txt', 'shopping-list.md']) {
    await copyFile(join(root, 'examples', 'files', name), join(files, name))
  }
  await using stack = await startStack({
    env: { WEB_FOLDER: folder, DEMO_SCRIPTED: 'false', TOOL_APPROVAL: 'filesystem.write_file' },
  })
  const servers = { filesystem: { command, args: [files] } }
  await writeFile(stack.mcpJson, JSON.stringify({ servers }))
  await eventually(async () =>
    (await serverStates(stack.url)).some(({ state }) => state === 'ready'),
  )

  await using open = new AsyncDisposableStack()
  const browser = await startBrowser()
  open.defer(() => browser.close())
  const context = await browser.newContext({
    viewport: { width: 1_040, height: 640 },
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  const pictures = new Pictures(page)
  await page.goto(stack.url)

  await say(page, `read the text file ${files}/welcome.txt`)
  await page.locator('.turn[data-state=done]').waitFor()
  await page.getByText('filesystem server').last().waitFor()
  await page.getByRole('link', { name: /^read the text/ }).waitFor()
  await pictures.take('chat')

  await page.emulateMedia({ colorScheme: 'dark' })
  await say(page, `write the file ${files}/note.txt with content "Buy milk"`)
  await page.getByRole('button', { name: 'Allow', exact: true }).waitFor()
  await pictures.take('approval')

  await page.emulateMedia({ colorScheme: 'light' })
  await page.getByRole('link', { name: 'Servers', exact: true }).click()
  await page.getByRole('link', { name: 'filesystem' }).click()
  await page.getByText('write_file', { exact: true }).last().waitFor()
  await page.setViewportSize({ width: 1_040, height: 480 })
  await pictures.take('servers')
})

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text)
  await page.keyboard.press('Enter')
}
