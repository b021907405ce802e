/* Hierarchical communicators, the machine's tree as communicators, one level at a time; rank reordering; and
 * collectives along the tree (ranktree/mpi_collect.h).
 *
 * Source: hsplit-2018 (Hardware topology management in MPI applications through hierarchical communicators) §3-5; the
 * split types are those of MPI 5.0 §7.4.2. Link with libranktree_mpi_<mpi>, built for the MPI of the program.
 *
 * Where a rank is. Every rank has a chain: the switches of the network from the outside in, its node, then every
 * object of the node (NUMA node, package, cache, core, PU) that contains its binding, the affinity mask of the calling
 * thread at the time of the call. Objects with the same PUs are one level, named by the first of: NUMANode, Package,
 * Die, L5Cache ... L1Cache, Core, PU, Group. An unbound rank has nothing below its node. Two ranks share an object
 * when their chains agree down to it. No function binds anything.
 *
 * A level. A communicator is split below the longest common beginning of its ranks' chains: ranks with the same next
 * object get the same new communicator. A rank without a next object, where other ranks have one, is a leftover: it
 * gets MPI_COMM_NULL, or what the info key ranktree_leftover requests. When no rank has a next object, all get
 * MPI_COMM_NULL. So every new communicator is a strict subset (MPI_Comm_compare: MPI_UNEQUAL), siblings are disjoint,
 * and no binding makes a call hang.
 *
 * Info keys, equal on all ranks; unknown keys are ignored:
 *
 * - ranktree_leftover = null (default) | self | group: leftovers get MPI_COMM_NULL, a communicator each, or one
 *   together.
 *
 * - ranktree_node_id = shared (default) | hostname | boot_id | env | file: what identifies the node of a rank.
 *   MPI_COMM_TYPE_SHARED; the host's name; the kernel's boot identity; the value of the environment variable
 *   RANKTREE_NODE_ID; the first line of the file that RANKTREE_NODE_ID_FILE names.
 *
 * - ranktree_network = auto (default) | none | a file: the source of the switches. auto: the file that RANKTREE_NETWORK
 *   names, else SLURM_TOPOLOGY_ADDR if this host's name is last in it, else none. Files: Slurm's topology.conf and
 *   topology.yaml, output of ibnetdiscover, or lines "host switch.switch".
 *
 * Errors. Functions return an MPI error code after calling the error handler of their communicator (where there is
 * none, MPI_COMM_SELF's in MPI 4, MPI_COMM_WORLD's before), as MPI does. MPI_COMM_NULL and intercommunicators:
 * MPI_ERR_COMM. In collective calls an error on one rank (a null pointer, an unknown info value, a failure of hwloc),
 * or a difference between ranks, returns the same error class on all ranks. ranktree_Comm_get_message() returns the
 * reason. Outputs are untouched on error.
 *
 * Ownership: the caller frees communicators and info objects that calls return. Everything else is stored in
 * attributes of the communicators and freed with them; MPI_Comm_dup copies it.
 */
#ifndef RANKTREE_MPI_H
#define RANKTREE_MPI_H

#include <mpi.h>
#include <stdint.h>

#include "ranktree/base.h"
#include "ranktree/mpi_collect.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The version of the library that the program runs with, as MPI_Get_version() returns the standard's. Local.
 *
 * \param[out] major,minor,patch the program's own are RANKTREE_VERSION_MAJOR, _MINOR and _PATCH; with equal major and
 * minor numbers the ABI is the same
 * \return MPI_SUCCESS, or MPI_ERR_ARG for a null pointer
 */
RANKTREE_API int ranktree_Get_version(int* major, int* minor, int* patch);

/** Size of a buffer for any type name with its terminator. */
enum { RANKTREE_MAX_TYPE = 32 };

/** Split types for ranktree_Comm_split_type(). MPI's constants of these names, where they exist, mean the same. */
enum {
  RANKTREE_COMM_TYPE_SHARED = 0x52540001,
  RANKTREE_COMM_TYPE_HW_UNGUIDED = 0x52540002,
  RANKTREE_COMM_TYPE_HW_GUIDED = 0x52540003,
  RANKTREE_COMM_TYPE_RESOURCE_GUIDED = 0x52540004
};

/** One level down, the highest first. Collective over comm. hsplit-2018 §3.2.1.
 *
 * \param comm an intracommunicator
 * \param key orders the ranks of a new communicator; ties keep the order of comm
 * \param info MPI_INFO_NULL or the keys above
 * \param[out] newcomm this rank's part, MPI_COMM_NULL when it has none
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Comm_hsplit(MPI_Comm comm, int key, MPI_Info info, MPI_Comm* newcomm);

/** One level down, and the communicator of its roots. Collective over comm. hsplit-2018 §3.2.3.
 *
 * \param[out] newcomm as ranktree_Comm_hsplit() with equal keys
 * \param[out] rootscomm at rank 0 of each newcomm: the communicator of all of these, in comm's order; MPI_COMM_NULL at
 * the others. Its rank i is the root of the communicator with index i.
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Comm_hsplit_with_roots(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Comm* rootscomm);

/** All levels at once. Collective over comm; the location of each rank is determined once. hsplit-2018 §3.4.
 *
 * \param max length of levels and of roots, at least 0, equal on all ranks; deeper levels are not made
 * \param[out] nlevels the number of levels this rank belongs to, at most max; ranks may differ
 * \param[out] levels levels[0] is a part of comm, levels[i + 1] of levels[i]; MPI_COMM_NULL from nlevels on
 * \param[out] roots roots[i]: the roots of the parts that levels[i] is one of, MPI_COMM_NULL where this rank is no
 * root. NULL when not wanted (on all ranks).
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Comm_hsplit_all(MPI_Comm comm, MPI_Info info, int max, int* nlevels, MPI_Comm levels[],
                                          MPI_Comm roots[]);

/** MPI_Comm_split_type of MPI 5.0 §7.4.2 for these types. Collective over comm.
 *
 * SHARED: ranks of one node. HW_UNGUIDED: ranktree_Comm_hsplit(). HW_GUIDED and RESOURCE_GUIDED: the info key
 * mpi_hw_resource_type names the resource whose instances split comm, a key of ranktree_Get_hw_resource_info()
 * ("hwloc://L3Cache", or only "L3Cache") or "mpi_shared_memory"; ranks that are not within one instance get
 * MPI_COMM_NULL. RESOURCE_GUIDED also takes mpi_pset_name, where the MPI library does. For an unknown split type or
 * resource, or without a resource, all ranks get MPI_COMM_NULL and MPI_SUCCESS. A rank may pass MPI_UNDEFINED to take
 * no part.
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm);

/** The object of the machine that a communicator represents. Local. hsplit-2018 §3.3.1.
 *
 * \param[out] num_comms communicators made from the same parent in the same call
 * \param[out] index the index of comm among them, 0 .. num_comms-1, in the order of their roots in the parent
 * \param[out] type "Switch0", "Node", "Package", "NUMANode", "L3Cache", ...; the parent's for leftovers; "Unknown",
 * with num_comms 1 and index 0, when comm was not made by a split
 * \param len size of type, with the terminator; a longer name is cut
 * \param[out] resultlen length of the whole name without the terminator
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Comm_get_hlevel_info(MPI_Comm comm, int* num_comms, int* index, char* type, int len,
                                               int* resultlen);

/** The lowest level that the given ranks share. Collective over comm; each rank may query other ranks. Nodes and
 * switches are those of the last split of comm, or of the split that made it. hsplit-2018 §3.3.2.
 *
 * \param n length of ranks, 0 where this rank queries nothing
 * \param ranks ranks in comm, in any order
 * \param[out] type "Unknown" when the calling rank is not among them; across nodes the switch level they share, or
 * "Cluster"; else the name of the lowest object. Cut at len as in ranktree_Comm_get_hlevel_info().
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Comm_get_min_hlevel(MPI_Comm comm, int n, const int ranks[], char* type, int len,
                                              int* resultlen);

/** The chain of a rank. Collective over comm; each rank may query another rank. Nodes and switches as in
 * ranktree_Comm_get_min_hlevel().
 *
 * \param rank a rank in comm
 * \param max length of types and ids, 0 or more
 * \param[out] nlevels length of the chain; more than max when the arrays were too short and hold only its beginning
 * \param[out] types names, outermost first: Switch0, Switch1, ..., Node, then the objects of the node
 * \param[out] ids numbers: two ranks share level i when types and ids agree in 0 .. i. Within a node they are hwloc's
 * logical numbers; for nodes and switches they are not negative and have no other meaning.
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Comm_get_location(MPI_Comm comm, int rank, int max, int* nlevels,
                                            char types[][RANKTREE_MAX_TYPE], int64_t ids[]);

/** The resources of this machine. Local. MPI 5.0 §9.1.2.
 *
 * \param[out] hw_info one key for each resource, "hwloc://L3Cache"; its value is "true" when the caller's binding lies
 * within one instance of it, else "false". To be freed with MPI_Info_free.
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Get_hw_resource_info(MPI_Info* hw_info);

/** The reason of the last error of a call on comm, or a warning that MPI's idea of nodes and the host names disagree.
 * Local. Empty when there is neither. Cut at len as in ranktree_Comm_get_hlevel_info().
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Comm_get_message(MPI_Comm comm, char* text, int len, int* resultlen);

/* Rank reordering: communicators whose ranks are close to those they communicate with.
 *
 * Source: reorder-2011 (Improving MPI Applications Performance on Multicore Clusters with Rank Reordering) §3;
 * treematch-2013 (Process Placement in Multicore Clusters: Algorithmic Issues and Practical Techniques) §2.3 and
 * appendix A.
 *
 * Meaning. The vertices of a graph are numbered 0 .. size-1. Rank k of the new communicator owns vertex k: its
 * neighbours are those declared for vertex k, by any rank. With reorder the calling process may become another rank,
 * so that vertices with much traffic are close together in the machine's tree. The chains above, with the same info
 * keys, give the location of ranks. The cost of an order is the sum over edges of weight x distance in hops. The new
 * communicator costs at most as much as the one without reordering. Where no order is cheaper, a step fails or the
 * time limit passes, no rank changes. Ranktree never requests the MPI library's own reordering and never binds.
 *
 * Info keys, equal on all ranks, besides those above:
 *
 * - ranktree_reorder_mode = auto (default) | central | node | distributed. central: one rank gathers tree and graph
 *   (reorder-2011 §3). node: ranks are exchanged only within their nodes (treematch-2013 §2.3). distributed: a
 *   coarsened graph is placed on the tree's top levels, and every subtree places its own part; no rank holds more edges
 *   than its subtree has. auto: central up to 4,096 ranks, distributed above. Grids are placed by one rank in any mode;
 *   ranktree_Dims_create() and ranktree_Cart_create_weighted() refuse node.
 *
 * - ranktree_objective = bytes (default) | messages | bottleneck | time: what the order minimises. bytes: weight x
 * distance. messages: distance, every edge counts once. bottleneck: the seconds of the most loaded link, the weights as
 * bytes. time: the same and the mean waiting of a rank, one message each edge and direction
 * (docs/explanation/objectives.md). The last two need the mode central, which auto then is for any number of ranks;
 * ranktree_Comm_rebalance takes bytes only.
 *
 * - ranktree_algorithm = engine (default) | treematch: what computes the order of a graph. treematch is the algorithm
 *   of treematch-2013 §4, as ranktree_place_options.algorithm has it, for bytes and messages; it needs the mode
 *   central, which auto then is for any number of ranks. Grids are placed by the engine.
 *
 * - ranktree_parameters, with bottleneck or time: latencies and bandwidths, a file of `ranktree calibrate` or the name
 * of a class of clusters (ethernet-1g, ethernet-10g, infiniband-100g), at rank 0 (whose value counts); default: usual
 * values. If it cannot be read, the order stays.
 *
 * - ranktree_pattern, with bottleneck or time, for ranktree_Comm_reorder and distributed graphs: a file as
 * ranktree_read_pattern reads it, on rank 0 (whose value counts). Its messages, directions and phases are placed in
 * place of the graph's weights. If it cannot be read, the order stays.
 *
 * - ranktree_preset = fast | default | strong: the effort of the search (default: default).
 *
 * - ranktree_seed: a whole number (1). Equal arguments, locations and seed give the same order.
 *
 * - ranktree_time_limit_ms: milliseconds after which the order stays unchanged; 0 (default): no limit.
 *
 * ranktree_Comm_get_info() on the new communicator returns the result.
 */

/** MPI_Dist_graph_create (MPI 5.0 §8.5.4) with reordering that works. Collective over comm_old.
 *
 * Any rank may declare edges of any vertex. weights must not be negative; MPI_UNWEIGHTED, on all ranks that declare
 * edges, counts every edge once; any of both, or MPI_WEIGHTS_EMPTY, where n is 0. Edges declared twice and self loops
 * remain as declared.
 *
 * \param n number of sources this rank declares edges of
 * \param sources n vertices
 * \param degrees n numbers of edges
 * \param destinations the other end of each edge, sum of degrees entries
 * \param weights the traffic of each edge
 * \param reorder zero: no rank changes; equal on all ranks
 * \param[out] comm_dist_graph a communicator with a distributed graph topology
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
                                            const int destinations[], const int* weights, MPI_Info info, int reorder,
                                            MPI_Comm* comm_dist_graph);

/** MPI_Dist_graph_create_adjacent: rank k of comm_old declares all edges of vertex k. Collective over comm_old.
 *
 * Neighbours keep their order. The weight of an edge is the mean of the weights that its two ends declare.
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
                                                     const int* sourceweights, int outdegree, const int destinations[],
                                                     const int* destweights, MPI_Info info, int reorder,
                                                     MPI_Comm* comm_dist_graph);

/** MPI_Graph_create: every rank passes the whole graph, every edge counts once. Collective over comm_old.
 *
 * \param nnodes at most the size of comm_old; ranks beyond get MPI_COMM_NULL
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Graph_create(MPI_Comm comm_old, int nnodes, const int index[], const int edges[], int reorder,
                                       MPI_Comm* comm_graph);

/** MPI_Cart_create: the grid is tiled on the machine's tree so that neighbours share low levels. Collective over
 * comm_old.
 *
 * \param dims their product is at most the size of comm_old; ranks beyond get MPI_COMM_NULL
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder,
                                      MPI_Comm* comm_cart);

/** The number of processes in each dimension of a grid of all ranks, for given traffic and this machine's levels.
 * Collective over comm. After the proposal of C. Niethammer and R. Rabenseifner (EuroMPI 2019; MPI Forum issue 120).
 *
 * A domain is cut into equal boxes, one a process. dim_weights[j] is what is exchanged through a plane across the whole
 * domain, perpendicular to dimension j, in both directions: for a halo of a domain of g[0] x g[1] x g[2] cells, that of
 * dimension 0 is proportional to g[1] x g[2]. A process then exchanges in proportion to dim_weights[j] x dims[j]. The
 * grid whose placement costs least is chosen, the traffic counted between nodes, packages, caches and so on. Where the
 * machine's levels cannot be read, it is the grid with the least traffic.
 *
 * \param dim_weights ndims numbers, 0 or more; NULL: all equal
 * \param periods nonzero: the first and the last of the dimension are neighbours
 * \param[in,out] dims 0: to be chosen; else kept. The result has as many processes as comm. Equal on all ranks, as all
 * other arguments are.
 * Error: the dimensions given do not divide the number of processes, or one is negative: MPI_ERR_DIMS on all ranks.
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Dims_create(MPI_Comm comm, int ndims, const double dim_weights[], const int periods[],
                                      MPI_Info info, int dims[]);

/** The grid of ranktree_Dims_create() and its placement: MPI_Dims_create and MPI_Cart_create in one, the ranks
 * reordered. Collective over comm_old. ranktree_objective in info decides the placement; the dimensions are those with
 * the least bytes x distance.
 *
 * \param dims as in ranktree_Dims_create(); where all are given, their product is at most the size of comm_old, and
 * ranks beyond get MPI_COMM_NULL
 * \param[out] comm_cart a communicator with a Cartesian topology
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Cart_create_weighted(MPI_Comm comm_old, int ndims, const double dim_weights[],
                                               const int periods[], MPI_Info info, int dims[], MPI_Comm* comm_cart);

/** The order only, without a topology. Collective over comm. Graph arguments as in ranktree_Dist_graph_create(), with
 * weights as doubles; NULL, on all ranks that declare edges, counts every edge once.
 *
 * \param[out] newrank this process's rank in newcomm
 * \param[out] newcomm all processes of comm in the new order; NULL when not wanted (on all ranks)
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Comm_reorder(MPI_Comm comm, int n, const int sources[], const int degrees[],
                                       const int destinations[], const double weights[], MPI_Info info, int* newrank,
                                       MPI_Comm* newcomm);

/** The result of reordering: a copy of comm's info, with these keys added where one of the calls above made comm.
 * Local. ranktree_reorder: identity, central, node, distributed or tiling. ranktree_reorder_reason: why no rank has
 * changed, absent where one has. ranktree_reorder_before and ranktree_reorder_after: the cost in hops x weight, by the
 * info key ranktree_objective in hops x edges or in seconds; absent where it is not known.
 *
 * \param[out] info to be freed with MPI_Info_free
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Comm_get_info(MPI_Comm comm, MPI_Info* info);

/** The graph of a recorded pattern, for ranktree_Dist_graph_create() and MPI_Dist_graph_create() (treematch-2013
 * appendix A's read_pattern). Collective over comm: rank 0 reads the file (any format of
 * docs/reference/formats/pattern.md; collectives are expanded) and gets all edges, the others get none.
 *
 * \param metric "size", "msg" or "avg" (treematch-2013 §2.1); weights above 2^31-1 are scaled down together
 * \param[out] n number of sources: size of comm at rank 0, 0 elsewhere
 * \param[out] sources,degrees,destinations,weights to be freed with free(); NULL where n is 0
 * Error: the file cannot be read, or its number of ranks is not comm's size: MPI_ERR_FILE / MPI_ERR_ARG on all ranks.
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_read_pattern(const char* file, MPI_Comm comm, const char* metric, int* n, int** sources,
                                       int** degrees, int** destinations, int** weights);

/** A better order for the traffic since the last call on comm. Collective over comm; needs the recording of the preload
 * library (ranktree trace). The gain is the hop-bytes that the order would have saved in that interval, times the info
 * key ranktree_horizon (default 1: the future lasts as long as the interval). It must exceed the hop-bytes of moving
 * ranktree_state_bytes (default 0) of every rank that moves.
 *
 * \param[out] newranks newranks[i]: rank in newcomm of the process that is rank i of comm; size of comm entries, NULL
 * (on all ranks) when not wanted. Untouched where nothing moves.
 * \param[out] newcomm all processes in the new order, or MPI_COMM_NULL when the gain does not exceed the cost;
 * ranktree_Comm_get_message(comm) returns both figures.
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Comm_rebalance(MPI_Comm comm, MPI_Info info, int newranks[], MPI_Comm* newcomm);

/** Reductions whose bits depend only on the number of ranks, not on their location or the algorithm
 * (docs/how-to/reproducible-reductions.md). Collective over comm. RANKTREE_REPRODUCIBLE=1 sets it for every
 * communicator.
 *
 * It applies to ranktree_Reduce, ranktree_Allreduce, ranktree_Reduce_scatter, ranktree_Reduce_scatter_block, and the
 * calls that the preload library serves. Duplicates of comm do not inherit it. Calls that no schedule can carry out,
 * for instance with overlapping elements of a datatype, remain native.
 *
 * \param flag zero: switches it off; equal on all ranks, else MPI_ERR_ARG
 * \return MPI_SUCCESS or an MPI error code
 */
RANKTREE_API int ranktree_Comm_set_reproducible(MPI_Comm comm, int flag);

#ifdef __cplusplus
}
#endif

#endif
