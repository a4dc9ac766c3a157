import type { Buffer } from 'node:buffer'

/** A key, alone or with Control. */
export type EngineKey = 'Enter' | 'Tab' | 'Control+C' | 'Control+V'

/** A document: a page, or a frame in it. Elements are given as expressions in JavaScript. */
export interface EngineFrame {
  /** The value of an expression, which is JSON. */
  evaluate<T>(expression: string): Promise<T>
  /** Clicks the middle of an element. Rejects when there is none. */
  click(element: string): Promise<void>
}

/** A tab of a browser that keeps nothing of other tabs. */
export interface EnginePage extends EngineFrame, AsyncDisposable {
  open(url: string): Promise<void>
  /** A frame in the page; for one in another frame, the selectors of both. */
  frame(...selectors: readonly string[]): EngineFrame
  /** Types a text where the focus is. */
  type(text: string): Promise<void>
  press(key: EngineKey): Promise<void>
  /** Chooses a file in an `<input type="file">`. */
  choose(input: string, path: string): Promise<void>
  /** A picture of the window, as PNG. */
  screenshot(): Promise<Buffer>
}

/** A running browser. */
export interface Engine extends AsyncDisposable {
  page(): Promise<EnginePage>
}

/** A kind of browser. */
export interface EngineKind {
  readonly name: string
  /** The package of Debian without which the engine cannot run here; `undefined` where it is installed. */
  readonly missing: string | undefined
  start(): Promise<Engine>
}

export const WINDOW = { width: 1_080, height: 900 }
