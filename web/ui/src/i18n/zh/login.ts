import type { login as english } from '../en/login';
import type { Translation } from '../translation';

export const login: Translation<typeof english> = {
  title: '登录',
  body: 'helmtrail 仅用您的令牌执行您要求的操作，不会使用您没有的权限。令牌只会发送给它所属的集群，并保存在任何脚本都无法读取的 Cookie 中。',
  cluster: '集群',
  token: '令牌',
  hint: '集群认可的 bearer 令牌，例如某个服务账号的令牌：',
  action: '登录',
  another: '登录另一个集群',
  account: '当前用户：{{user}}',
  noNeed: '此 helmtrail 无需登录。',
  goOn: '继续',
  refused: {
    title: '令牌被拒绝',
    unknown: '集群 {{cluster}} 不认识该令牌：它不属于此集群、粘贴不完整，或者已经失效。',
    expired: '令牌已于 {{time}} 过期。请为集群 {{cluster}} 获取新的令牌。',
  },
  until: '有效期至 {{time}}',
  logout: '退出 {{cluster}}',
  lost: {
    title: '您已退出登录',
    body: '您在此处输入的内容仍然保留。请在另一个标签页中登录，然后继续。',
    action: '登录（新标签页）',
  },
};
