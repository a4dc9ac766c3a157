import type { Setting } from '@mcp-host/service'
import { ALL_SETTINGS } from '../host/settings.ts'

const HEAD = `# Settings

Made from the code by \`npm run generate\`; do not edit. Every setting is an environment variable, a
line in \`.env\`, or in a [configuration file](../guides/configure.md). An empty value counts as not set. Faulty settings are all named at once and nothing starts;
\`npm start\` warns about unknown ones that begin with \`LLM_\`, \`MAX_\` or \`MCP_\` or look like a setting.
`

/** Every setting of every process, as a document. */
export function configReference(): string {
  const sections = ALL_SETTINGS.map(({ name, settings }) => {
    const rows = Object.values(settings).map(row).join('\n')
    return `\n## ${name}\n\n| Name | Default | |\n| --- | --- | --- |\n${rows}\n`
  })
  return HEAD + sections.join('')
}

function row({ env, aliases = [], default: fallback, describe, isSecret }: Setting): string {
  const also = aliases.map((name) => ` Also read as \`${name}\`.`).join('')
  const secret = isSecret === true ? ' Secret: never logged or shown.' : ''
  const shown = fallback === undefined || fallback === '' ? '' : `\`${fallback}\``
  return `| \`${env}\` | ${shown} | ${describe}${also}${secret} |`
}

/** A \`.env\` to start from: every setting, commented out. */
export function envExample(): string {
  const named = new Set<string>()
  const sections = ALL_SETTINGS.map(({ name, settings }) => {
    const lines = Object.values(settings)
      // READY_FILE is only for processes that are started one by one.
      .filter(({ env }) => env !== 'READY_FILE' && !named.has(env))
      .map(({ env, default: fallback = '', describe }) => {
        named.add(env)
        return `# ${describe}\n#${env}=${fallback}\n`
      })
    return `## ${name}\n\n${lines.join('\n')}`
  })
  return `# Copy to .env and uncomment what you want to change.\n\n${sections.join('\n')}`
}
