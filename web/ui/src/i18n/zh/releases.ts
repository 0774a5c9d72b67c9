import type { releases as english } from '../en/releases';
import type { Translation } from '../translation';

export const releases: Translation<typeof english> = {
  title: '发布',
  titleIn: '{{namespace}} 中的发布',
  titleAll: '所有集群的发布',
  allClusters: '所有集群',
  cluster: '集群',
  allNamespaces: '所有命名空间',
  columns: {
    name: '名称',
    namespace: '命名空间',
    status: '状态',
    revision: '修订版本',
    chart: 'Chart',
    appVersion: '应用版本',
    updated: '更新时间',
    session: '操作',
  },
  filter: {
    text: '按名称、命名空间或 Chart 筛选',
    status: '状态',
    clear: '清除所有筛选条件',
    shown_other: '{{count}} 个发布',
  },
  running: '实时查看',
  stuck: '卡住',
  install: '安装',
  runningLabel: '查看 {{name}} 上正在运行的操作',
  undecodable: '无法读取记录：{{problem}}',
  labelDisagrees: 'Secret 的标签显示 {{status}}',
  live: { off: '列表未实时更新', offBody: '改为每隔几秒读取一次。' },
  empty: {
    title: '还没有发布',
    body: '无论由谁运行 Helm，在此安装的内容都会自动出现。记录从 Secret 中读取，这是 Helm 的默认方式；以 HELM_DRIVER=configmap 或 sql 保存的发布不会显示。',
    filteredTitle: '没有符合筛选条件的发布',
    noClusters: '未配置集群',
    noClustersBody: '请使用 kubeconfig 启动 helmtrail。',
  },
  syncing: '仍在读取此集群的发布',
  clusterProblem: '无法连接集群：显示的内容可能已过时',
};
