/** One generation of the scripted demo model. */
export interface ScriptStep {
  readonly text?: string
  readonly reasoning?: string
  readonly tokens?: number
  readonly stamp?: boolean
  readonly tokensPerSecond?: number
  readonly calls?: readonly { readonly name: string; readonly arguments: unknown }[]
  readonly error?: {
    readonly afterTokens: number
    readonly message: string
    readonly code?: string
    readonly overflow?: boolean
  }
  readonly hang?: boolean
}

/** A user message that scripts the answers of the demo model, one step for each generation of the turn. */
export function script(...steps: readonly ScriptStep[]): string {
  return JSON.stringify({ script: steps })
}
