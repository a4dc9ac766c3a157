import { z } from 'zod'

/** Settings of a session instead of the host's. */
export const SessionSettings = z.object({
  systemPrompt: z.string().min(1).max(32_768).optional(),
  temperature: z.number().min(0).max(2).optional(),
  /** The limit of tool calls in each turn. */
  maxToolCalls: z.number().int().min(0).max(1_000).optional(),
})
export type SessionSettings = z.infer<typeof SessionSettings>

const { systemPrompt, temperature, maxToolCalls } = SessionSettings.shape

/** Changes of them: `null` takes the host's own again, what is absent stays as it is. */
export const SettingsChange = z.object({
  systemPrompt: systemPrompt.unwrap().nullable().optional(),
  temperature: temperature.unwrap().nullable().optional(),
  maxToolCalls: maxToolCalls.unwrap().nullable().optional(),
})
export type SettingsChange = z.infer<typeof SettingsChange>

/** The settings after a change. */
export function changeSettings(settings: SessionSettings, change: SettingsChange): SessionSettings {
  const { systemPrompt: prompt, temperature: heat, maxToolCalls: most } = change
  const changed = { systemPrompt: prompt, temperature: heat, maxToolCalls: most }
  const given = Object.entries(changed).filter(([, value]) => value !== undefined)
  const after = Object.entries({ ...settings, ...Object.fromEntries(given) })
  return Object.fromEntries(after.filter(([, value]) => value !== null))
}
