import type { releases as english } from '../en/releases';
import type { Translation } from '../translation';

export const releases: Translation<typeof english> = {
  title: 'Releases',
  titleIn: '{{namespace}} 中的 Releases',
  titleAll: '所有集群的 Releases',
  allClusters: '所有集群',
  cluster: '集群',
  allNamespaces: '所有名称空间',
  columns: {
    name: '名称',
    namespace: '名称空间',
    status: '状态',
    revision: 'Revision',
    chart: 'Chart',
    appVersion: '应用版本',
    updated: '更新时间',
    session: '操作',
  },
  filter: {
    text: '按名称、名称空间或 Chart 筛选',
    status: '状态',
    clear: '清除所有筛选条件',
    shown_other: '{{count}} 个 Release',
  },
  running: '实时查看',
  stuck: '卡住',
  install: '安装',
  runningLabel: '实时查看 {{name}} 上正在进行的操作',
  undecodable: '无法读取记录：{{problem}}',
  labelDisagrees: 'Secret 的标签显示 {{status}}',
  live: { off: '实时更新不可用', offBody: '列表改为每隔几秒刷新一次。' },
  empty: {
    title: '还没有 Release',
    body: '使用 Helm 安装的 Release 会立即显示在此处，无论由谁安装。helmtrail 读取 Secret，Helm 默认将 Release 保存在其中。以 HELM_DRIVER=configmap 或 sql 保存的 Release 不会显示。',
    filteredTitle: '没有符合筛选条件的 Release',
    noClusters: '未配置集群',
    noClustersBody: '请使用 kubeconfig 启动 helmtrail。',
  },
  syncing: '正在加载此集群的 Releases',
  clusterProblem: '无法连接集群：显示的数据可能已过时',
};
