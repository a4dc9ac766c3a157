import { setting, values } from './settings.ts'

/** Settings of the policy for tool calls, for every service that begins calls. */
export const policySettings = {
  policyConfig: setting({
    env: 'POLICY_CONFIG',
    schema: values.text,
    default: 'policy.json',
    describe:
      'File with the rules that allow, deny or ask about uses of tools, prompts and resources, by principal, server, name and arguments; read again when it changes. The default file may be missing; `none` means no file.',
  }),
}
