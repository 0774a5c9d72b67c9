import type { login as english } from '../en/login';
import type { Translation } from '../translation';

export const login: Translation<typeof english> = {
  title: '登录',
  body: 'helmtrail 使用您的令牌，并且仅以您的权限进行操作。令牌只会发送给它所属的集群，并保存在脚本无法读取的 Cookie 中。',
  cluster: '集群',
  token: '令牌',
  hint: '集群的 bearer 令牌，例如某个 ServiceAccount 的令牌：',
  action: '登录',
  another: '登录另一个集群',
  account: '当前用户：{{user}}',
  notRequired: '无需登录。',
  continue: '继续',
  refused: {
    title: '令牌被拒绝',
    unknown: '集群 {{cluster}} 不接受该令牌。它属于其他集群、粘贴不完整，或者已经失效。',
    expired: '令牌已于 {{time}} 过期。请为集群 {{cluster}} 获取新的令牌。',
  },
  until: '有效期至 {{time}}',
  logout: '退出 {{cluster}}',
  lost: {
    title: '您已退出登录',
    body: '您在此页面输入的内容仍然保留。请在另一个标签页中登录，然后继续。',
    action: '登录（新标签页）',
  },
};
