// Pictures of the web UI for the documents. With `PICTURES=docs/images` they replace those of the repository.
import { mkdir, mkdtemp, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** Pixels around a part of the page. */
const MARGIN = 8
const MIN_BYTES = 600
const MAX_BYTES = 85_000

let made: Promise<string> | undefined

function pictureFolder(): Promise<string> {
  const given = process.env['PICTURES']
  made ??=
    given === undefined
      ? mkdtemp(join(tmpdir(), 'mcp-host-pictures-'))
      : mkdir(given, { recursive: true }).then(() => given)
  return made
}

/** Takes pictures of a page, in `<name>.png`. `documents.test.ts` reads the names in the tests. */
export class Pictures {
  readonly #page: Page

  constructor(page: Page) {
    this.#page = page
  }

  /** `parts`: what is in the picture; by default all that the window shows. */
  async take(name: string, ...parts: readonly Locator[]): Promise<void> {
    const path = join(await pictureFolder(), `${name}.png`)
    const clip = parts.length === 0 ? undefined : await this.#around(parts)
    await this.#page.screenshot({ path, animations: 'disabled', ...(clip && { clip }) })
    const { size } = await stat(path)
    expect(size).toBeGreaterThan(MIN_BYTES)
    expect(size).toBeLessThan(MAX_BYTES)
  }

  /** Also in the dark theme, as `<name>-dark.png`. */
  async takeBoth(name: string, ...parts: readonly Locator[]): Promise<void> {
    await this.take(name, ...parts)
    await this.#page.emulateMedia({ colorScheme: 'dark' })
    await this.take(`${name}-dark`, ...parts)
    await this.#page.emulateMedia({ colorScheme: 'light' })
  }

  /** The rectangle around parts of the page, which the window must show whole. */
  async #around(parts: readonly Locator[]) {
    await parts[0]?.scrollIntoViewIfNeeded()
    const boxes = await Promise.all(parts.map((part) => part.boundingBox()))
    const found = boxes.filter((box) => box !== null)
    expect(found).toHaveLength(parts.length)
    const { width = 0, height = 0 } = this.#page.viewportSize() ?? {}
    const left = Math.min(...found.map(({ x }) => x))
    const top = Math.min(...found.map(({ y }) => y))
    const right = Math.max(...found.map((box) => box.x + box.width))
    const bottom = Math.max(...found.map((box) => box.y + box.height))
    expect(top).toBeGreaterThanOrEqual(0)
    expect(bottom).toBeLessThanOrEqual(height)
    const x = Math.max(0, left - MARGIN)
    const y = Math.max(0, top - MARGIN)
    return {
      x,
      y,
      width: Math.min(width, right + MARGIN) - x,
      height: Math.min(height, bottom + MARGIN) - y,
    }
  }
}
