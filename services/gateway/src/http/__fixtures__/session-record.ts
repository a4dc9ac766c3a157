/** A session as an orchestrator describes it. */
export const sessionRecord = (id: string, owner: string) => ({
  id,
  owner,
  title: 'Tea',
  isTitled: true,
  createdAt: 1,
  updatedAt: 2,
  messages: 1,
  usage: [],
  state: 'active',
})
