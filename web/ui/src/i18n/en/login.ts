export const login = {
  title: 'Log in',
  body: 'helmtrail does with your token what you ask for, and nothing with rights that you do not have. The token goes to the cluster that it is for and to no other, and is kept in a cookie that no script can read.',
  cluster: 'Cluster',
  token: 'Token',
  hint: 'A bearer token that the cluster knows, for example of a service account:',
  action: 'Log in',
  another: 'Log in to another cluster',
  account: 'Logged in as {{user}}',
  noNeed: 'Nobody has to log in to this helmtrail.',
  goOn: 'Go on',
  refused: {
    title: 'The token was refused',
    unknown: 'Cluster {{cluster}} does not know it: it is not a token of this cluster, it was not pasted as a whole, or it is no longer valid.',
    expired: 'It expired on {{time}}. Get a new one for cluster {{cluster}}.',
  },
  until: 'until {{time}}',
  logout: 'Log out of {{cluster}}',
  lost: {
    title: 'You are logged out',
    body: 'What you have entered here stays. Log in in another tab, then go on.',
    action: 'Log in (new tab)',
  },
} as const;
