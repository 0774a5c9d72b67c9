import type { common as english } from '../en/common';
import type { Translation } from '../translation';

export const common: Translation<typeof english> = {
  home: 'helmtrail，前往发布列表',
  skipToContent: '跳到主要内容',
  retry: '重试',
  loading: '正在加载',
  releases: '发布',
  backToReleases: '返回发布列表',
  noSuchPage: '页面不存在',
  status: {
    deployed: '已部署',
    failed: '失败',
    superseded: '已被取代',
    uninstalled: '已卸载',
    uninstalling: '卸载中',
    unknown: '未知',
    'pending-install': '等待安装',
    'pending-upgrade': '等待升级',
    'pending-rollback': '等待回滚',
  },
  problem: {
    unreachable: '无法连接 helmtrail',
    unreachableBody: '服务器没有响应，可能正在重启，或者网络已断开。',
    bad_request: '请求被拒绝',
    unknown_field: '请求被拒绝',
    forbidden: '您无权查看此内容',
    not_found: '未找到',
    no_active_session: '未找到活跃的会话',
    method_not_allowed: '请求被拒绝',
    operation_in_progress: '另一项操作正在进行',
    too_large: '请求过大',
    too_many_operations: '正在运行的操作过多',
    unreachable_cluster: '无法连接集群',
    unavailable: '暂时不可用',
    internal: '出现错误',
  },
};
