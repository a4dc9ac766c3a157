import { z } from 'zod'
import { AccountLabel, ServerName } from '../ids.ts'

/** Settings of a session that replace those of the host. */
export const SessionSettings = z.object({
  systemPrompt: z.string().min(1).max(32_768).optional(),
  temperature: z.number().min(0).max(2).optional(),
  /** The limit of tool calls in each turn. */
  maxToolCalls: z.number().int().min(0).max(1_000).optional(),
  /** The MCP servers whose tools its turns may use; absent: all. */
  servers: z.array(ServerName).max(256).optional(),
  /** The labels of the logins that its calls use, by server; absent: the default one of its user. */
  accounts: z
    .record(ServerName, AccountLabel)
    .refine(
      (accounts) => Object.keys(accounts).length <= 256,
      'must not have more than 256 servers',
    )
    .optional(),
})
export type SessionSettings = z.infer<typeof SessionSettings>

const { shape } = SessionSettings

/** A change of the settings: `null` restores the host's value; an absent field stays as it is. */
export const SettingsChange = z.object({
  systemPrompt: shape.systemPrompt.unwrap().nullable().optional(),
  temperature: shape.temperature.unwrap().nullable().optional(),
  maxToolCalls: shape.maxToolCalls.unwrap().nullable().optional(),
  servers: shape.servers.unwrap().nullable().optional(),
  accounts: shape.accounts.unwrap().nullable().optional(),
})
export type SettingsChange = z.infer<typeof SettingsChange>

/** The settings after a change. */
export function changeSettings(
  settings: SessionSettings,
  { systemPrompt, temperature, maxToolCalls, servers, accounts }: SettingsChange,
): SessionSettings {
  const change = Object.entries({ systemPrompt, temperature, maxToolCalls, servers, accounts })
  const given = change.filter(([, value]) => value !== undefined)
  const after = Object.entries({ ...settings, ...Object.fromEntries(given) })
  return Object.fromEntries(after.filter(([, value]) => value !== null))
}
