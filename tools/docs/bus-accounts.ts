import { accessRules } from '@mcp-host/bus'
import type { BucketAccess, Contract, ServiceParticipant } from '@mcp-host/contracts'
import { ACCOUNTS, AUDIT_WRITERS, BLOB_USERS, BUCKETS, CONTRACTS } from '@mcp-host/contracts'

const HEAD = `# Accounts on the bus

Made from the code by \`npm run generate\`; do not edit. With accounts, each service can only send, hear, read and write what it is
for, with a credential of its own. [Decision 0032](../decisions/0032-bus-accounts.md) has the reasons and the limits.

\`npm start\` creates accounts and credentials in \`DATA_DIR/bus\` for the nats-server that it runs, with \`BUS_ACCOUNTS=on\`. For a
nats-server of your own:

1. \`npm run bus-accounts -- --out FOLDER\` writes \`accounts.conf\` and a credential for each service, such as \`gateway.nk\`.
   Credentials that are there are kept.
2. Include the file in the configuration of every nats-server of the cluster: \`include accounts.conf\`. It has no other
   \`accounts\` and no \`authorization\`. Encrypt both clients and routes with \`tls\` there, as nats-server describes it.
3. \`npm run bus-accounts -- provision --credentials FOLDER\` creates the streams and buckets at \`NATS_URL\`, with the
   \`NATS_REPLICAS\` and \`AUDIT_RETENTION_DAYS\` of the environment. Repeat it for each new version of the host, before its services.
4. Start each service with its own file in \`NATS_NKEY_SEED_FILE\`, and with \`NATS_TLS_CA\`. A service with another one's
   credential does not start and says so. The certificate of nats-server has the name of \`NATS_URL\`, not an address. A
   process with \`tools.nk\` may do everything: the commands for operators need it, services must not have it.

To replace the credentials while everything runs: \`npm run bus-accounts -- rotate --out FOLDER\`, reload nats-server
(\`nats-server --signal reload\`), restart all processes with the new files, and then \`npm run bus-accounts -- retire --out FOLDER\` and
another reload. In between both the old and the new ones are good. Both commands first store an entry in the audit log at
\`NATS_URL\`; without one they say that there is no entry. After a theft, rotate and retire before the first reload:
holders of the old ones are disconnected, and need the new files. Streams that were created without accounts are in nats-server's account \`$G\`: stop it and
rename \`jetstream/$G\` in its \`store_dir\` to \`jetstream/STORE\`; \`npm start\` does so by itself.

## Services

| Service | Account | Sends | Hears and answers |
| --- | --- | --- | --- |
`

/** The rights of each service on the bus. */
export function busAccounts(): string {
  const { services } = accessRules()
  const names = Object.keys(services) as ServiceParticipant[]
  const messages = (isMatch: (contract: Contract) => boolean): string =>
    Object.entries(CONTRACTS)
      .flatMap(([message, contract]) => (isMatch(contract) ? [`\`${message}\``] : []))
      .join(', ')
  const rows = names.map(
    (service) =>
      `| ${service} | ${ACCOUNTS[service]} | ${messages(({ from }) => from.includes(service))} | ${messages(({ to }) => to.includes(service))} |\n`,
  )
  return [
    HEAD,
    ...rows,
    '\n[Messages on the bus](bus.md) has their subjects.\n\n## Buckets\n\n',
    '| Bucket | Has | Read by | Written by |\n| --- | --- | --- | --- |\n',
    ...Object.entries(BUCKETS).map(([bucket, access]) => bucketRow(bucket, access)),
    `| BLOB | values that are too large for a message | ${BLOB_USERS.join(', ')} | ${BLOB_USERS.join(', ')} |\n`,
    `| AUDIT | the audit log | gateway, commands for operators | ${AUDIT_WRITERS.join(', ')}: own entries |\n`,
    '\n## Permissions\n\n`*` stands for one token of a subject, `>` for the rest.\n',
    ...names.map((service) => {
      const { publish, subscribe } = services[service]
      return `\n**${service}** publishes\n\n${list(publish)}\n\nand subscribes to\n\n${list(subscribe)}\n`
    }),
  ].join('')
}

function bucketRow(bucket: string, { purpose, readers, writers }: BucketAccess): string {
  const written = Object.entries(writers).map(([service, keys]) =>
    keys.includes('>') ? service : `${service}: ${keys.map((key) => `\`${key}\``).join(', ')}`,
  )
  return `| ${bucket} | ${purpose} | ${readers.join(', ')} | ${written.join('; ')} |\n`
}

function list(subjects: readonly string[]): string {
  return `\`\`\`text\n${subjects.join('\n')}\n\`\`\``
}
